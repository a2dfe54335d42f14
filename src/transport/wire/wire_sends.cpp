// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/wire_sends.hpp"

#include <utility>

#include "transport/wire/wire_port.hpp"

namespace urakata::transport {

bool WireSends::send(WirePort& port, const Message& message, const Ticket& ticket) {
  Connection::Outgoing out{.frame = {.kind = FrameKind::message, .tag = message.tag, .bytes = message.bytes},
                           .payload = message.address,
                           .reported = true,
                           .port = &port,
                           .ticket = ticket};
  if (message.layout != nullptr) {
    out.packed.resize(message.bytes);
    message.layout->pack(message.address, 0, message.bytes / message.layout->size, out.packed.data());
    out.payload = out.packed.data();
  }
  if (message.bytes <= kEager) return pair_.send(std::move(out));
  const std::uint64_t id = next_id_++;
  pair_.send({.frame = {.kind = FrameKind::rts, .tag = message.tag, .bytes = message.bytes, .id = id}});
  out.frame.kind = FrameKind::payload;
  out.frame.id = id;
  waiting_.emplace(id, std::move(out));
  return false;
}

void WireSends::cts_received(std::uint64_t id) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  Connection::Outgoing out = std::move(found->second);
  waiting_.erase(found);
  auto& port = *static_cast<WirePort*>(out.port);
  const Ticket ticket = out.ticket;
  if (pair_.send(std::move(out))) port.complete(ticket, 0);
}

std::size_t WireSends::cancel(const void* instance) {
  return std::erase_if(waiting_, [&](const auto& entry) { return entry.second.ticket.instance == instance; });
}

bool WireSends::lose(int failure) {
  for (const auto& [id, out] : waiting_) static_cast<WirePort*>(out.port)->complete(out.ticket, failure);
  const bool any = !waiting_.empty();
  waiting_.clear();
  return any;
}

}  // namespace urakata::transport
