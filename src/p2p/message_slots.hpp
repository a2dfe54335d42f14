// SPDX-License-Identifier: BSD-3-Clause
// How a message is written into the slots of an inbox, and read out of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "p2p/inbox.hpp"
#include "p2p/prefetch.hpp"
#include "p2p/small_copy.hpp"

namespace urakata::p2p {

// The payload of a message that needs further slots.
[[gnu::noinline]] inline void fill_payload(Inbox& inbox, std::uint64_t position, std::uint32_t slots,
                                           const std::byte* payload, std::size_t bytes) {
  // All lines are asked for at once, not one after the other as their bytes are stored.
  for (std::uint32_t i = 1; i < slots; ++i) prefetch_to_write(&inbox.slot(position + i));
  std::memcpy(inbox.slot(position).first.payload, payload, Slot::kPayload);
  std::size_t at = Slot::kPayload;
  for (std::uint32_t i = 1; i < slots; ++i) {
    Slot& slot = inbox.slot(position + i);
    slot.stamp.store(Inbox::sequence(position + i), std::memory_order_relaxed);
    if (bytes - at >= Slot::kFurther) {
      std::memcpy(slot.further, payload + at, Slot::kFurther);
      at += Slot::kFurther;
    } else {
      small_copy(slot.further, payload + at, bytes - at);
    }
  }
}

// Fills the `slots` slots from `position` on, which the caller has claimed, so that the consumer may take them.
// `order`: the sender's number of the message. `stream`: more messages are likely to follow.
[[gnu::always_inline]] inline void fill(Inbox& inbox, std::uint64_t position, std::uint32_t slots, std::uint32_t order,
                                        const Envelope& envelope, Kind kind, const std::byte* payload,
                                        std::size_t bytes, bool stream) {
  // Lines of the messages that follow, so that the receiver gives them up in time. Not the next one: the receiver may
  // be polling there. Where messages go to and fro this would make each of them a fifth longer.
  constexpr std::uint32_t kAhead = 4;
  if (stream) prefetch_to_write(&inbox.slot(position + slots + kAhead));
  Slot& first = inbox.slot(position);
  if (slots == 1) {
    small_copy(first.first.payload, payload, bytes);
  } else {
    fill_payload(inbox, position, slots, payload, bytes);
  }
  first.first.head = Slot::First::head_of(kind, slots, kind == Kind::eager ? bytes : 0);
  first.first.order = order;
  first.first.envelope.context = envelope.context;
  first.first.envelope.source = envelope.source;
  first.first.envelope.tag = envelope.tag;
  first.stamp.store(Inbox::sequence(position), std::memory_order_release);
}

// The first `bytes` of an eager message's payload. The slot is the inbox's oldest; for its consumer.
inline void gather(Inbox& inbox, const Slot& first, std::byte* to, std::size_t bytes) {
  if (bytes <= Slot::kPayload) {
    small_copy(to, first.first.payload, bytes);
    return;
  }
  for (std::uint32_t i = 1; i < first.first.slots(); ++i) __builtin_prefetch(&inbox.slot(inbox.next() + i));
  std::memcpy(to, first.first.payload, Slot::kPayload);
  std::size_t at = Slot::kPayload;
  for (std::uint64_t position = inbox.next() + 1; at < bytes; ++position) {
    const Slot& slot = inbox.slot(position);
    if (bytes - at >= Slot::kFurther) {
      std::memcpy(to + at, slot.further, Slot::kFurther);
      at += Slot::kFurther;
    } else {
      small_copy(to + at, slot.further, bytes - at);
      at = bytes;
    }
  }
}

}  // namespace urakata::p2p
