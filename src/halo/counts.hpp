// SPDX-License-Identifier: BSD-3-Clause
// Counters of the exchanges of a neighbourhood channel, at one rank. They are exact and only grow.
#pragma once

#include <cstdint>

namespace urakata::halo {

struct Counts {
  std::uint64_t exchanges = 0;
  // Puts to neighbours in the space, by the way of the payload. Their sum is the number of flags in mailbox slots.
  std::uint64_t in_slot = 0;     // payloads in the mailbox slot, beside the flag
  std::uint64_t direct = 0;      // payloads put into the receiver's elements
  std::uint64_t bounced = 0;     // payloads put into a bounce buffer
  std::uint64_t rendezvous = 0;  // payloads that stayed at the sender until both ranks were in the exchange
  std::uint64_t put_frames = 0;  // frames to ranks on other nodes, one for each slice of a payload
  std::uint64_t held = 0;        // puts that could not begin with the exchange: no free buffer, or receiver not ready
  std::uint64_t bytes = 0;       // bytes of payload sent

  std::uint64_t ready_flags = 0;  // ready flags stored at neighbours, and ready frames sent
  std::uint64_t unpacked = 0;     // copies from a mailbox slot or a bounce buffer into elements
  // Pieces of rendezvous payloads that this rank has copied, as sender and as receiver.
  std::uint64_t pieces_sent = 0;
  std::uint64_t pieces_received = 0;

  std::uint64_t put_flags() const { return in_slot + direct + bounced + rendezvous; }
  std::uint64_t copies() const { return in_slot + direct + bounced + unpacked + pieces_sent + pieces_received; }
};

}  // namespace urakata::halo
