// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/wire.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "transport/wire/wire_errors.hpp"

namespace urakata::transport {

namespace {

constexpr unsigned kPollsPerCheck = 64;  // polls from one reading of the clock to the next

}  // namespace

Wire::Wire(std::int32_t rank, Secret secret, Failures& failures, std::uint64_t timeout_ns)
    : failures_(failures),
      failure_(failures.code),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      connector_(rank, secret, timeout_ns),
      acceptor_(timeout_ns),
      prober_(lock_, connector_, epoll_) {}

Result<std::unique_ptr<Wire>> Wire::open(std::int32_t rank, Secret secret, Failures& failures, std::uint64_t timeout_ns,
                                         std::span<const InterfaceAddress> only) {
  std::unique_ptr<Wire> wire(new Wire(rank, secret, failures, timeout_ns));
  if (wire->epoll_ < 0) return no_wire("make an epoll set");
  if (auto opened = wire->acceptor_.open(only); !opened.ok()) return opened.error();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = wire.get();  // who connects
  if (epoll_ctl(wire->epoll_, EPOLL_CTL_ADD, wire->accepting(), &event) != 0) return no_wire("watch a socket");
  return wire;
}

Wire::~Wire() {
  if (epoll_ >= 0) close(epoll_);
}

Wire::Peer& Wire::peer(std::int32_t rank) { return peers_[rank]; }

// --- a pair's connection ---------------------------------------------------------------------------------------------

// False: it cannot be made; errno says why.
bool Wire::link_to(std::int32_t rank, Peer& to) {
  if (to.link != nullptr || to.asked != nullptr) return true;
  auto made = connect_to(rank, FrameKind::hello, epoll_);
  if (!made) return false;
  (this->rank() < rank ? to.link : to.asked) = made.get();
  connections_.push_back(std::move(made));
  return true;
}

// Is there a connection, or one under way?
bool Wire::reach(std::int32_t rank, Peer& to) {
  if (!link_to(rank, to)) {
    log::error("cannot connect to rank %d: %s; run with --transport native if nodes cannot reach each other", rank,
               std::strerror(errno));
    return false;
  }
  return to.link == nullptr || !to.link->broken();
}

bool Wire::hello(Connection& from, std::int32_t rank) {
  Peer& other = peer(rank);
  from.watched_by(epoll_);
  // Both processes have connected to each other. If we are the lower rank, our connection stays: the other process will
  // find it and close this one. If that process has abandoned a connection that we had answered, messages on it are
  // lost.
  if (other.link != nullptr) return rank > this->rank() && other.link->ours && !other.link->broken();
  from.rank = rank;
  from.open = true;
  greet(from, FrameKind::hello_ack);
  link(other, from);
  return true;
}

bool Wire::hello_ack(Connection& from, std::int32_t rank) {
  if (const auto probed = prober_.acknowledged(from, rank)) return *probed;
  Peer& other = peer(from.rank);
  if (rank != from.rank || from.open || (&from != other.link && &from != other.asked)) return false;
  from.open = true;
  if (&from == other.asked) link(other, from);
  return true;
}

// From now on it belongs to the Wire.
void Wire::adopt(const Connection& accepted) {
  if (auto claimed = acceptor_.claim(accepted)) connections_.push_back(std::move(claimed));
}

std::vector<Wire::Accepted> Wire::accepted() {
  const std::lock_guard guard(lock_);
  return acceptor_.ordered_or_bulk().take();
}

std::vector<Wire::Accepted> Wire::accepted_stripes() {
  const std::lock_guard guard(lock_);
  return acceptor_.stripes().take();
}

void Wire::link(Peer& to, Connection& connection) {
  to.link = &connection;
  if (Connection* const ours = std::exchange(to.asked, nullptr); ours != nullptr && ours != &connection) {
    ours->rank = -1;
    ours->end();
  }
  for (Connection::Outgoing& out : std::exchange(to.held, {})) {
    const Connection::Outgoing who{.frame = out.frame, .port = out.port, .ticket = out.ticket};
    const bool reported = out.reported;
    if (connection.send(std::move(out)) && reported) report(who);
  }
}

// --- the watch over peers --------------------------------------------------------------------------------------------

// Who has gone without a word?
void Wire::check_connections() {
  const std::uint64_t now = now_ns();
  if (now < next_check_ns_) return;
  next_check_ns_ = now + timeout_ns() / 4;
  acceptor_.check();
  for (const auto& one : connections_) {
    if (!one->broken() && !check(*one)) lost(*one);
  }
  for (auto& [rank, from] : peers_) {
    if (!from.posted.empty() && !link_to(rank, from)) lose_receives(from);
  }
}

// --- progress --------------------------------------------------------------------------------------------------------

void Wire::put(WirePort& port, const Ticket& ticket, int error) {
  const std::lock_guard guard(lock_);
  complete(port, ticket, error);
}

void Wire::complete(WirePort& port, const Ticket& ticket, int error) {
  port.finished_.push_back({ticket, error});
  if (&port == polling_ || port.told_) return;
  port.told_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(port.readiness_, &one, sizeof one);
}

void Wire::end(const Posted& receive, int error) {
  if (receive.port != nullptr) complete(*receive.port, receive.ticket, error);
}

void Wire::lose_receives(Peer& peer) {
  if (peer.current) end(*peer.current, failure_);
  peer.current.reset();
  for (auto& unexpected : peer.unexpected) {
    if (unexpected->taker) end(*unexpected->taker, failure_);
    unexpected->taker.reset();
  }
  for (const Posted& one : peer.posted) end(one, failure_);
  peer.posted.clear();
  for (const auto& [id, one] : peer.cts_sent) end(one, failure_);
  peer.cts_sent.clear();
}

// It is broken, and nothing can be done about that.
bool Wire::ended(Connection& connection) {
  if (!connection.broken()) return false;
  const auto found = peers_.find(connection.rank);
  const bool of_peer =
      found != peers_.end() && (found->second.link == &connection || found->second.asked == &connection);
  return !of_peer || !renew(connection);
}

// A connection has ended. That is the usual end of a peer from whom we want nothing more; else its messages are lost.
void Wire::lost(Connection& connection) {
  const auto found = peers_.find(connection.rank);
  if (found == peers_.end()) return;
  Peer& other = found->second;
  if (other.asked == &connection) other.link = std::exchange(other.asked, nullptr);
  if (other.link != &connection) return;
  // It stays open as long as the process lives, and the other side may have noticed nothing and want something of us.
  shutdown(connection.socket(), SHUT_WR);
  bool wanted =
      other.current || !other.posted.empty() || !other.cts_sent.empty() || other.current_unexpected != nullptr;
  const auto lose = [&](const Connection::Outgoing& out) {
    if (is_put(out.frame.kind)) return;  // whose sink is told below
    wanted = true;
    if (out.port != nullptr) complete(*static_cast<WirePort*>(out.port), out.ticket, failure_);
  };
  std::ranges::for_each(connection.queue(), lose);
  std::ranges::for_each(other.held, lose);
  for (const auto& [id, out] : other.waiting) lose(out);
  connection.queue().clear();
  other.held.clear();
  other.waiting.clear();
  lose_receives(other);
  other.current_put = nullptr;
  for (const auto& [number, sink] : sinks_) wanted = sink->lost(connection.rank) || wanted;
  if (wanted) {
    log::error("lost the connection to rank %d: %s", connection.rank,
               connection.error() == 0 ? "its process has ended" : std::strerror(connection.error()));
  }
}

// Of the payload that is coming in.
void Wire::tell_progress(const Connection& from) {
  if (!from.open || from.rank < 0) return;
  if (const Peer& sender = peer(from.rank); sender.current) sender.current->ticket.tell(from.come());
}

// What an epoll set has to say. False: nothing.
bool Wire::serve(int set) {
  std::array<epoll_event, 32> events;
  const int count = epoll_wait(set, events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.ptr == this) {
      serve(accepting());
      continue;
    }
    if (event.data.ptr == nullptr) {
      acceptor_.accept_connections();
      continue;
    }
    Connection& connection = *static_cast<Connection*>(event.data.ptr);
    if ((event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0 && !connection.broken()) {
      sent_.clear();
      connection.flush(sent_);
      for (const Connection::Outgoing& out : sent_) report(out);
    }
    if ((event.events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 && !connection.broken()) {
      connection.receive(*this);
      tell_progress(connection);
    }
    if (ended(connection)) lost(connection);
  }
  return count > 0;
}

void Wire::poll(WirePort* port, int set) {
  const std::lock_guard guard(lock_);
  polling_ = port;
  const bool served = serve(set);
  const bool checking = ++polls_ % kPollsPerCheck == 0;
  if (checking) check_connections();
  if (served || checking) {
    // Those that nobody can ask for any more; a peer's own stays, so that later messages see that it is broken.
    std::erase_if(connections_, [](const auto& one) { return one->broken() && one->rank < 0; });
    acceptor_.close_surplus();
  }
  if (port != nullptr && port->told_) {
    port->told_ = false;
    std::uint64_t word = 0;
    [[maybe_unused]] const auto got = read(port->readiness_, &word, sizeof word);
  }
  if (port != nullptr) port->reported_.swap(port->finished_);
  polling_ = nullptr;
}

}  // namespace urakata::transport
