// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/outgoing_message.hpp"

namespace urakata::transport {

void OutgoingMessage::keep() {
  if (!payload.kept.empty() || unacked.empty()) return;
  const std::uint64_t from = *unacked.begin();
  const std::byte* const begin = payload.at(from);
  payload.kept.assign(begin, begin + static_cast<std::ptrdiff_t>(bytes - from));
  payload.address = payload.kept.data();
  payload.from = from;
}

void OutgoingMessage::give_up() {
  keep();
  next = bytes;
  given = true;
  again.clear();
  waiter = {};
}

void OutgoingMessages::clear_to_send(std::int32_t tag, std::uint64_t number) {
  for (OutgoingMessage& message : open) {
    if (message.key.tag == tag && (message.key.number & StripeSizes::kNumberMask) == number) {
      message.clear_to_send = true;
    }
  }
}

void OutgoingMessages::give_again(OutgoingMessage& message, const OutgoingMessage::Span& piece) {
  message.unacked.erase(piece.offset);
  if (!message.more()) waiting.push_front(&message);
  message.again.push_back(piece);
}

void OutgoingMessages::remove(const OutgoingMessage& message) {
  std::erase(waiting, &message);
  open.remove_if([&](const OutgoingMessage& one) { return &one == &message; });
}

}  // namespace urakata::transport
