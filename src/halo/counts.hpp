// What the exchanges of a plan took, at one rank. Exact; every number only grows.
#pragma once

#include <cstdint>

namespace urakata::halo {

struct Counts {
  std::uint64_t exchanges = 0;
  // Puts to neighbours, by how the payload goes; their sum is the number of marks in put lines.
  std::uint64_t in_slot = 0;     // in the line of the mark
  std::uint64_t direct = 0;      // into the receiver's elements
  std::uint64_t bounced = 0;     // into a landing place
  std::uint64_t rendezvous = 0;  // left where it is, to be copied by whoever is there when both are
  std::uint64_t put_frames = 0;  // to ranks that share no memory with this one; of each payload one for each slice
  std::uint64_t held = 0;        // of all: those whose turn was not free when they were started
  std::uint64_t bytes = 0;       // of payload

  std::uint64_t ready_flags = 0;  // to neighbours
  std::uint64_t unpacked = 0;     // copies out of a line or a landing place into elements
  // Pieces of payloads by rendezvous that this rank has copied.
  std::uint64_t pieces_sent = 0;
  std::uint64_t pieces_received = 0;

  std::uint64_t put_flags() const { return in_slot + direct + bounced + rendezvous; }
  std::uint64_t copies() const { return in_slot + direct + bounced + unpacked + pieces_sent + pieces_received; }
};

}  // namespace urakata::halo
