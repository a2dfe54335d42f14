// A message that has arrived before its receive was posted: out of the inbox, and in the unexpected queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "p2p/cell.hpp"

namespace urakata::p2p {

struct Arrival {
  static constexpr std::size_t kSmall = 64;  // payload bytes that need no memory of their own

  Arrival* next = nullptr;
  Envelope envelope;
  Kind kind = Kind::eager;
  std::uint64_t bytes = 0;
  Offer offer;                         // of a rendezvous
  std::byte small[kSmall]{};           // of an eager message, unless `large` is there
  std::unique_ptr<std::byte[]> large;  // room for the largest eager message; kept when the arrival is used again

  std::byte* payload() { return large != nullptr ? large.get() : small; }
};

}  // namespace urakata::p2p
