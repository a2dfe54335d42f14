// SPDX-License-Identifier: BSD-3-Clause
// A message that is coming in by transport `stripes`, and all messages of a pair that are.
//
// Thread-safety: under the lock of Stripes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "transport/stripes/completion_queue.hpp"
#include "transport/stripes/outgoing_message.hpp"
#include "transport/transport.hpp"

namespace urakata::transport {

struct IncomingMessage {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  Waiter waiter;  // nobody: its receive is not there yet
  Message message;
  std::vector<std::byte> packed;   // where the payload arrives, for a layout with holes
  bool told = false;               // clear_to_send was sent, or would have been: short messages need none
  std::uint64_t come = 0;          // bytes
  std::uint64_t size = kUnknown;   // bytes of the whole message, once its last piece has come
  std::set<std::uint64_t> pieces;  // offsets of those that have come
  std::map<std::uint64_t, std::vector<std::byte>> unexpected;  // pieces that have come before the receive, by offset

  bool posted() const { return waiter.queue != nullptr; }
  std::byte* room() { return message.layout != nullptr ? packed.data() : message.address; }
  // Its receive is there: takes the pieces that have come before.
  void post(const Waiter& who, const Message& receive);
  // A piece has come.
  void note(std::uint64_t offset, std::uint64_t bytes, bool last);
  // As many bytes have come as the receive has room for. Is there more of the message?
  bool too_long() const { return size > message.bytes; }
  // As many bytes have come as the receive has room for: unpacks them, if they are packed. The caller tells the waiter.
  // Returns 0, or `failure` if too_long().
  int conclude(int failure) const;
};

struct IncomingMessages {
  std::map<MessageKey, IncomingMessage> open;
  std::unordered_map<std::int32_t, std::uint64_t> posted;  // receives of a tag

  bool any_posted() const;
  // Which message a frame of this tag means that has the lowest bits of its number: the nearest to the receives.
  MessageKey key_of(std::int32_t tag, std::uint64_t low_bits);
};

}  // namespace urakata::transport
