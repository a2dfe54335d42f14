// SPDX-License-Identifier: BSD-3-Clause
// A message that has arrived before its receive was posted: out of the inbox or off the link, and in the
// unexpected queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "p2p/link.hpp"
#include "p2p/slot.hpp"
#include "p2p/spare.hpp"

namespace urakata::p2p {

struct Unexpected {
  static constexpr std::size_t kSmall = 64;  // payload bytes that fit into `small`

  Unexpected* next = nullptr;
  Envelope envelope;
  Kind kind = Kind::eager;
  std::uint32_t order = 0;  // the sender's, of a message of the space; see older()
  std::uint64_t bytes = 0;
  Rts rts;                             // of a rendezvous
  std::byte small[kSmall]{};           // payload of an eager message, unless it is in `large` or `block`
  std::unique_ptr<std::byte[]> large;  // room for the largest eager message; kept when the unexpected is used again

  // Of a message that has come by a link.
  LinkPeer peer{};
  LinkTicket ticket{};  // of an RTS, or of an eager message that waits for an answer
  Block block;          // of an eager message with more than kSmall bytes

  std::byte* link_payload() { return bytes > kSmall ? block.get() : small; }
  std::byte* payload() { return large != nullptr ? large.get() : small; }
};

}  // namespace urakata::p2p
