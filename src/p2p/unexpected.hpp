// A message that has arrived before its receive was posted: out of the inbox, and in the unexpected queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "p2p/slot.hpp"

namespace urakata::p2p {

struct Unexpected {
  static constexpr std::size_t kSmall = 64;  // payload bytes that need no memory of their own

  Unexpected* next = nullptr;
  Envelope envelope;
  Kind kind = Kind::eager;
  std::uint64_t bytes = 0;
  Rts rts;                             // of a rendezvous
  std::byte small[kSmall]{};           // of an eager message, unless `large` is there
  std::unique_ptr<std::byte[]> large;  // room for the largest eager message; kept when the unexpected is used again

  std::byte* payload() { return large != nullptr ? large.get() : small; }
};

}  // namespace urakata::p2p
