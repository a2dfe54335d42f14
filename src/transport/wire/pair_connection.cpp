// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/pair_connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "transport/wire/puts.hpp"
#include "transport/wire/wire_port.hpp"

namespace urakata::transport {

void report_sent(const Connection::Outgoing& sent) {
  if (sent.port == nullptr) return;
  if (is_put(sent.frame.kind)) return static_cast<PutSink*>(sent.port)->left(sent.ticket.node);
  static_cast<WirePort*>(sent.port)->complete(sent.ticket, 0);
}

void PairConnection::settle(Connection& one) {
  connection_ = &one;
  if (Connection* const ours = std::exchange(asked_, nullptr); ours != nullptr && ours != &one) {
    ours->rank = -1;
    ours->end();
  }
  for (Connection::Outgoing& out : std::exchange(held_, {})) {
    const Connection::Outgoing who{.frame = out.frame, .port = out.port, .ticket = out.ticket};
    const bool reported = out.reported;
    if (one.send(std::move(out)) && reported) report_sent(who);
  }
}

bool PairConnection::end_with(const Connection& one) {
  if (asked_ == &one) connection_ = std::exchange(asked_, nullptr);
  if (connection_ != &one) return false;
  // It stays open as long as the process lives, and the other side may have noticed nothing and want something of us.
  shutdown(connection_->socket(), SHUT_WR);
  return true;
}

bool PairConnection::send(Connection::Outgoing&& out) {
  if (connection_ != nullptr) return connection_->send(std::move(out));
  held_.push_back(std::move(out));
  return false;
}

void PairConnection::send_soon(Connection::Outgoing&& out) {
  if (connection_ != nullptr) return connection_->send_soon(std::move(out));
  held_.push_back(std::move(out));
}

std::size_t PairConnection::take_back(const void* instance) {
  const std::size_t taken = connection_ != nullptr ? connection_->take_back(instance) : 0;
  return taken + std::erase_if(held_, [&](const Connection::Outgoing& out) {
           return out.port != nullptr && out.ticket.instance == instance;
         });
}

std::vector<Connection::Outgoing> PairConnection::take_unsent() {
  std::vector<Connection::Outgoing> unsent(std::make_move_iterator(connection_->queue().begin()),
                                           std::make_move_iterator(connection_->queue().end()));
  connection_->queue().clear();
  std::ranges::move(std::exchange(held_, {}), std::back_inserter(unsent));
  return unsent;
}

std::byte* PairConnection::throw_away(std::uint64_t bytes) {
  thrown_away_.resize(std::max<std::uint64_t>(bytes, 1));
  return thrown_away_.data();
}

}  // namespace urakata::transport
