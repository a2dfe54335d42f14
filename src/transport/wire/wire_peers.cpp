// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/wire_peers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "transport/wire/wire_port.hpp"

namespace urakata::transport {

// --- connections -----------------------------------------------------------------------------------------------------

// False: it cannot be made; errno says why.
bool WirePeers::connect(std::int32_t rank, WirePeer& to) {
  if (to.pair.begun()) return true;
  auto made = connector_.connect_to(rank, FrameKind::hello, epoll_);
  if (!made) return false;
  to.pair.begin(*made, connector_.rank() < rank);
  connections_.push_back(std::move(made));
  return true;
}

bool WirePeers::reach(std::int32_t rank, WirePeer& to) {
  if (!connect(rank, to)) {
    log::error("cannot connect to rank %d: %s; run with --transport native if nodes cannot reach each other", rank,
               std::strerror(errno));
    return false;
  }
  return !to.pair.broken();
}

bool WirePeers::hello(Connection& from, std::int32_t rank) {
  PairConnection& pair = peer(rank).pair;
  from.watched_by(epoll_);
  // Both processes have connected to each other. If we are the lower rank, our connection stays: the other process will
  // find it and close this one. If that process has abandoned a connection that we had answered, messages on it are
  // lost.
  if (pair.get() != nullptr) return rank > connector_.rank() && pair.get()->ours && !pair.broken();
  from.rank = rank;
  from.open = true;
  connector_.greet(from, FrameKind::hello_ack);
  pair.settle(from);
  return true;
}

bool WirePeers::hello_ack(Connection& from, std::int32_t rank) {
  PairConnection& pair = peer(from.rank).pair;
  if (rank != from.rank || from.open || !pair.has(from)) return false;
  from.open = true;
  if (pair.has_asked(from)) pair.settle(from);
  return true;
}

// --- the watch over them ---------------------------------------------------------------------------------------------

void WirePeers::check() {
  for (const auto& one : connections_) {
    if (!one->broken() && !connector_.check(*one)) lose(*one);
  }
  for (auto& [rank, from] : peers_) {
    if (from.receives.any_posted() && !connect(rank, from)) from.receives.lose();
  }
}

// Whether the connection is broken and could not be made anew.
bool WirePeers::ended(Connection& connection) const {
  if (!connection.broken()) return false;
  const auto found = peers_.find(connection.rank);
  return found == peers_.end() || !found->second.pair.has(connection) || !connector_.renew(connection);
}

void WirePeers::lose(Connection& connection) {
  const auto found = peers_.find(connection.rank);
  if (found == peers_.end()) return;
  WirePeer& other = found->second;
  if (!other.pair.end_with(connection)) return;
  bool wanted = other.receives.wanted();
  for (const Connection::Outgoing& out : other.pair.take_unsent()) {
    if (is_put(out.frame.kind)) continue;  // whose sink is told below
    wanted = true;
    if (out.port != nullptr) static_cast<WirePort*>(out.port)->complete(out.ticket, failure_);
  }
  wanted = other.sends.lose(failure_) || wanted;
  other.receives.lose();
  other.current_put = nullptr;
  wanted = sinks_.lost(connection.rank) || wanted;
  if (wanted) {
    log::error("lost the connection to rank %d: %s", connection.rank,
               connection.error() == 0 ? "its process has ended" : std::strerror(connection.error()));
  }
}

// A peer's own connection stays, so that later messages see that it is broken.
void WirePeers::forget_ended() {
  std::erase_if(connections_, [](const auto& one) { return one->broken() && one->rank < 0; });
}

// --- what has failed elsewhere ---------------------------------------------------------------------------------------

std::size_t WirePeers::cancel(const void* instance) {
  std::size_t taken = 0;
  for (auto& [rank, other] : peers_) {
    taken += other.pair.take_back(instance);
    taken += other.sends.cancel(instance);
    taken += other.receives.cancel(instance);
  }
  return taken;
}

void WirePeers::abandon(PutSink& sink) {
  for (auto& [rank, other] : peers_) {
    other.pair.take_back(&sink);
    if (other.current_put != &sink) continue;
    other.pair.throw_rest_away();
    other.current_put = nullptr;
  }
}

void WirePeers::tell(std::int32_t rank, const Notice& notice) {
  failed_.add(notice.origin);
  for (auto& [other, from] : peers_) from.receives.drop_failed();
  WirePeer& to = peer(rank);
  if (!connect(rank, to) || to.pair.broken()) return;
  to.pair.send_soon(
      {.frame = {.kind = FrameKind::notice, .tag = notice.context, .id = static_cast<std::uint32_t>(notice.origin)}});
  lose_if_ended(to);  // no epoll set tells of it any more
}

}  // namespace urakata::transport
