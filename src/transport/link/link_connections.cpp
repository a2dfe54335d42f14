// SPDX-License-Identifier: BSD-3-Clause
#include "transport/link/link_connections.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "transport/wire/kept_errno.hpp"

namespace urakata::transport {

bool LinkConnections::send(LinkPeer to, const Frame& frame, std::span<const std::byte> payload) {
  const KeptErrno kept;
  LinkPeerState& other = peers_.at(to);
  if (other.failed || forks_.forked()) return false;
  Connection::Outgoing out{.frame = frame, .payload = payload.data()};
  if (!connect(to, other.ordered)) {
    out.keep_payload();
    other.held.push_back(std::move(out));
    reports_.note_sending();
    return !other.failed;
  }
  Connection& connection = *other.ordered.open;
  if (connection.send(std::move(out))) return true;
  connection.queue().back().keep_payload();
  reports_.note_sending();
  if (connection.broken()) lose(to);
  return !connection.broken();
}

// --- made and accepted -----------------------------------------------------------------------------------------------

bool LinkConnections::connect(LinkPeer to, ConnectionState& state) {
  if (state.open || state.asked) return state.open != nullptr;
  const auto rank = static_cast<std::int32_t>(to);
  const bool ordered = &state == &peers_.at(to).ordered;
  const FrameKind hello = ordered ? FrameKind::hello_ordered : FrameKind::hello_bulk;
  state.asked = wire_.connect_to(rank, hello, readiness_.descriptor());
  if (!state.asked) {
    log::error("cannot connect to rank %d: %s; run with --transport native if nodes cannot reach each other", rank,
               std::strerror(errno));
    lose(to);
  }
  return false;
}

bool LinkConnections::adopt(Wire::Accepted&& accepted) {
  const LinkPeer rank{accepted.connection->rank};
  LinkPeerState& other = peers_.at(rank);
  ConnectionState& state = accepted.kind == FrameKind::hello_bulk ? other.bulk : other.ordered;
  // Where one is open, this one was given up before we saw it.
  if (other.failed || state.open || accepted.connection->broken()) return false;
  if (state.asked && wire_.rank() < accepted.connection->rank) {
    state.superseded = std::move(accepted.connection);
    return false;
  }
  bury(state.asked);
  accepted.connection->watched_by(readiness_.descriptor());
  wire_.greet(*accepted.connection, FrameKind::hello_ack);
  state.open = std::move(accepted.connection);
  opened(rank, state);
  return &state == &other.bulk;
}

ConnectionState* LinkConnections::answered(Connection& from) {
  LinkPeerState& other = peers_.at(LinkPeer{from.rank});
  for (ConnectionState* state : {&other.ordered, &other.bulk}) {
    if (state->asked.get() != &from) continue;
    state->open = std::move(state->asked);
    state->superseded.reset();
    opened(LinkPeer{from.rank}, *state);
    return state;
  }
  return nullptr;
}

// Frames that have waited for it go now.
void LinkConnections::opened(LinkPeer rank, ConnectionState& state) {
  LinkPeerState& other = peers_.at(rank);
  Connection& connection = *state.open;
  connection.open = true;
  if (&state == &other.bulk) return;
  for (Connection::Outgoing& out : std::exchange(other.held, {})) connection.send(std::move(out));
  if (connection.broken()) lose(rank);
}

// --- lost ------------------------------------------------------------------------------------------------------------

void LinkConnections::lose(LinkPeer rank) {
  if (!std::exchange(peers_.at(rank).failed, true)) reports_.lost(rank);
}

void LinkConnections::check() {
  readiness_.note_check();
  wire_.accept_pending();
  for (auto& [rank, other] : peers_) {
    for (const ConnectionState* state : {&other.ordered, &other.bulk}) {
      Connection* const connection = state->open ? state->open.get() : state->asked.get();
      if (connection != nullptr && !wire_.check(*connection)) lose(rank);
    }
  }
}

void LinkConnections::bury(std::unique_ptr<Connection>& connection) {
  if (!connection) return;
  connection->end();
  closed_.push_back(std::move(connection));
}

void LinkConnections::close(LinkPeerState& peer) {
  for (ConnectionState* state : {&peer.ordered, &peer.bulk}) {
    bury(state->open);
    bury(state->asked);
    *state = {};
  }
}

}  // namespace urakata::transport
