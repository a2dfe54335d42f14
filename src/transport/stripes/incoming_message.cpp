// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/incoming_message.hpp"

#include <algorithm>
#include <cstring>

#include "base/log.hpp"

namespace urakata::transport {

void IncomingMessage::post(const Waiter& who, const Message& receive) {
  waiter = who;
  message = receive;
  if (message.layout != nullptr) packed.resize(message.bytes);
  for (const auto& [offset, piece] : unexpected) {
    if (offset + piece.size() <= message.bytes && !piece.empty()) {
      std::memcpy(room() + offset, piece.data(), piece.size());
    }
  }
  unexpected.clear();
}

void IncomingMessage::note(std::uint64_t offset, std::uint64_t bytes, bool last) {
  pieces.insert(offset);
  come += bytes;
  if (last) size = offset + bytes;
}

int IncomingMessage::conclude(int failure) const {
  if (too_long()) {
    const bool known = size != kUnknown;
    log::error("a message of %s%llu bytes came for a receive of %llu", known ? "" : "more than ",
               static_cast<unsigned long long>(known ? size : message.bytes),
               static_cast<unsigned long long>(message.bytes));
    return failure;
  }
  if (message.layout != nullptr && message.bytes != 0) {
    message.layout->unpack(packed.data(), message.address, 0, message.bytes / message.layout->size);
  }
  return 0;
}

bool IncomingMessages::any_posted() const {
  return std::ranges::any_of(open, [](const auto& entry) { return entry.second.posted(); });
}

MessageKey IncomingMessages::key_of(std::int32_t tag, std::uint64_t low_bits) {
  constexpr std::uint64_t kMask = StripeSizes::kNumberMask;
  const std::uint64_t receives = posted[tag];
  const std::uint64_t ahead = (low_bits - receives) & kMask;
  std::uint64_t number = receives + ahead;
  if (ahead > kMask / 2 && number >= kMask + 1) number -= kMask + 1;
  return {tag, number};
}

}  // namespace urakata::transport
