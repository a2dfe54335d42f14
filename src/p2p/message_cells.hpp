// How a message is written into the cells of an inbox, and read out of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "p2p/inbox.hpp"
#include "p2p/prefetch.hpp"
#include "p2p/small_copy.hpp"

namespace urakata::p2p {

// The payload of a message that needs further cells.
[[gnu::noinline]] inline void fill_payload(Inbox& inbox, std::uint64_t position, std::uint32_t cells,
                                           const std::byte* payload, std::size_t bytes) {
  // All lines are asked for at once, not one after the other as their bytes are stored.
  for (std::uint32_t i = 1; i < cells; ++i) prefetch_to_write(&inbox.cell(position + i));
  std::memcpy(inbox.cell(position).first.payload, payload, Cell::kPayload);
  std::size_t at = Cell::kPayload;
  for (std::uint32_t i = 1; i < cells; ++i) {
    Cell& cell = inbox.cell(position + i);
    cell.stamp.store(Inbox::lap(position + i), std::memory_order_relaxed);
    if (bytes - at >= Cell::kFurther) {
      std::memcpy(cell.further, payload + at, Cell::kFurther);
      at += Cell::kFurther;
    } else {
      small_copy(cell.further, payload + at, bytes - at);
    }
  }
}

// Fills the `cells` cells from `position` on, which the caller has claimed, so that the consumer may take them.
// `stream`: more messages are likely to follow.
[[gnu::always_inline]] inline void fill(Inbox& inbox, std::uint64_t position, std::uint32_t cells,
                                        const Envelope& envelope, Kind kind, const std::byte* payload,
                                        std::size_t bytes, bool stream) {
  // Lines of the messages that follow, so that the receiver gives them up in time. Not the next one: the receiver may
  // be looking there. Where messages go to and fro this would make each of them a fifth longer.
  constexpr std::uint32_t kAhead = 4;
  if (stream) prefetch_to_write(&inbox.cell(position + cells + kAhead));
  Cell& first = inbox.cell(position);
  if (cells == 1) {
    small_copy(first.first.payload, payload, bytes);
  } else {
    fill_payload(inbox, position, cells, payload, bytes);
  }
  first.first.kind = kind;
  first.first.cells = static_cast<std::uint16_t>(cells);
  first.first.envelope.context = envelope.context;
  first.first.envelope.source = envelope.source;
  first.first.envelope.tag = envelope.tag;
  first.first.bytes = static_cast<std::uint32_t>(bytes);
  first.stamp.store(Inbox::lap(position), std::memory_order_release);
}

// The first `bytes` of an eager message's payload. The cell is the inbox's oldest; for its consumer.
inline void gather(Inbox& inbox, const Cell& first, std::byte* to, std::size_t bytes) {
  if (bytes <= Cell::kPayload) {
    small_copy(to, first.first.payload, bytes);
    return;
  }
  for (std::uint32_t i = 1; i < first.first.cells; ++i) __builtin_prefetch(&inbox.cell(inbox.next() + i));
  std::memcpy(to, first.first.payload, Cell::kPayload);
  std::size_t at = Cell::kPayload;
  for (std::uint64_t position = inbox.next() + 1; at < bytes; ++position) {
    const Cell& cell = inbox.cell(position);
    if (bytes - at >= Cell::kFurther) {
      std::memcpy(to + at, cell.further, Cell::kFurther);
      at += Cell::kFurther;
    } else {
      small_copy(to + at, cell.further, bytes - at);
      at = bytes;
    }
  }
}

}  // namespace urakata::p2p
