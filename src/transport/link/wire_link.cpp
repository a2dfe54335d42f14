// SPDX-License-Identifier: BSD-3-Clause
#include "transport/link/wire_link.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "transport/wire/kept_errno.hpp"

namespace urakata::transport {

namespace {

constexpr unsigned kAsk = 16;  // calls of readiness() for one question to the kernel

// In the child of a fork one more than in its parent.
std::atomic<std::uint32_t> forks{0};

std::uint32_t count_forks() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  return forks.load(std::memory_order_relaxed);
}

}  // namespace

WireLink::WireLink(Wire& wire, const Settings& settings)
    : wire_(wire),
      settings_(settings),
      forks_(count_forks()),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      next_check_ns_(now_ns() + wire.timeout_ns() / 4) {}

Result<std::unique_ptr<WireLink>> WireLink::open(Wire& wire, const Settings& settings) {
  std::unique_ptr<WireLink> link(new WireLink(wire, settings));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &wire;  // who connects
  bool watched = link->epoll_ >= 0 && epoll_ctl(link->epoll_, EPOLL_CTL_ADD, wire.accepting(), &event) == 0;
  event.data.ptr = nullptr;  // those that the wire has accepted for us
  watched = watched && epoll_ctl(link->epoll_, EPOLL_CTL_ADD, wire.accepted_readiness(), &event) == 0;
  if (watched) return link;
  return Error{std::string("cannot watch the sockets of messages between nodes: ") + std::strerror(errno) +
               "; the MPI library carries them"};
}

WireLink::~WireLink() {
  peers_.clear();
  buried_.clear();
  if (epoll_ >= 0) close(epoll_);
}

bool WireLink::forked() const { return forks.load(std::memory_order_relaxed) != forks_; }

WireLink::Peer& WireLink::peer(LinkPeer rank) {
  const auto [it, made] = peers_.try_emplace(rank);
  if (made) {
    it->second.credit = settings_.credit;
    it->second.spread.width = Width(settings_.connections);
  }
  return it->second;
}

bool WireLink::failed(LinkPeer rank) const {
  const auto found = peers_.find(rank);
  return forked() || (found != peers_.end() && found->second.failed);
}

void WireLink::watch(LinkPeer rank) {
  const KeptErrno kept;
  if (!forked() && !peer(rank).failed) connect(rank, peer(rank).ordered);
}

bool WireLink::flushed() const {
  if (stripes_ && stripes_->sending()) return false;
  const auto delivered = [](const ConnectionState& state) { return !state.open || state.open->delivered(); };
  return std::ranges::all_of(peers_, [&](const auto& entry) {
    const Peer& one = entry.second;
    return one.failed || (one.held.empty() && one.leaving.empty() && delivered(one.ordered) && delivered(one.bulk));
  });
}

// --- a pair's connections --------------------------------------------------------------------------------------------

// Begins to make it where nobody has. Is it open?
bool WireLink::connect(LinkPeer to, ConnectionState& state) {
  if (state.open || state.asked) return state.open != nullptr;
  const auto rank = static_cast<std::int32_t>(to);
  const bool ordered = &state == &peer(to).ordered;
  state.asked = wire_.connect_to(rank, ordered ? FrameKind::hello_ordered : FrameKind::hello_bulk, epoll_);
  if (!state.asked) {
    log::error("cannot connect to rank %d: %s; run with --transport native if nodes cannot reach each other", rank,
               std::strerror(errno));
    lose(to);
  }
  return false;
}

void WireLink::adopt(Wire::Accepted&& accepted) {
  const LinkPeer rank{accepted.connection->rank};
  Peer& other = peer(rank);
  ConnectionState& state = accepted.kind == FrameKind::hello_bulk ? other.bulk : other.ordered;
  // Where one is open, this one was given up before we saw it.
  if (other.failed || state.open || accepted.connection->broken()) return;
  if (state.asked && wire_.rank() < accepted.connection->rank) {
    state.superseded = std::move(accepted.connection);
    return;
  }
  bury(state.asked);
  accepted.connection->watched_by(epoll_);
  wire_.greet(*accepted.connection, FrameKind::hello_ack);
  state.open = std::move(accepted.connection);
  opened(rank, state);
}

bool WireLink::answered(Connection& from) {
  Peer& other = peer(LinkPeer{from.rank});
  for (ConnectionState* state : {&other.ordered, &other.bulk}) {
    if (state->asked.get() != &from) continue;
    state->open = std::move(state->asked);
    state->superseded.reset();
    opened(LinkPeer{from.rank}, *state);
    return true;
  }
  return false;
}

void WireLink::opened(LinkPeer rank, ConnectionState& state) {
  Peer& other = peer(rank);
  Connection& connection = *state.open;
  connection.open = true;
  if (&state == &other.bulk) return push(rank);
  for (Connection::Outgoing& out : std::exchange(other.held, {})) connection.send(std::move(out));
  if (connection.broken()) lose(rank);
}

void WireLink::bury(std::unique_ptr<Connection>& connection) {
  if (!connection) return;
  connection->end();
  buried_.push_back(std::move(connection));
}

// The peer is to be told as failed by poll().
void WireLink::lose(LinkPeer rank) {
  Peer& other = peer(rank);
  if (std::exchange(other.failed, true)) return;
  lost_.push_back(rank);
  more_.store(true, std::memory_order_relaxed);
}

void WireLink::end(LinkPeer rank) {
  Peer& other = peer(rank);
  int code = 0;
  for (ConnectionState* state : {&other.ordered, &other.bulk}) {
    if (state->open) state->open->receive_rest(*this);
    for (const auto* connection : {&state->open, &state->asked}) {
      if (code == 0 && *connection != nullptr) code = (*connection)->error();
    }
  }
  const bool wanted = !other.held.empty() || !other.leaving.empty() || !other.landings.empty() ||
                      (stripes_ && stripes_->open_with(rank));
  if (wanted || (code != 0 && !ends_expected_)) {
    log::error("lost the connection to rank %d: %s", static_cast<std::int32_t>(rank),
               code == 0 ? "it was closed there, as when its process ends" : std::strerror(code));
  }
  for (ConnectionState* state : {&other.ordered, &other.bulk}) {
    bury(state->open);
    bury(state->asked);
    *state = {};
  }
  other.held.clear();
  other.leaving.clear();
  other.landings.clear();
  other.ahead.clear();
  other.ahead_here.clear();
  other.drains.clear();
  spreading_ -= std::exchange(other.spread, {}).open;
  if (stripes_) {
    poll_stripes();
    stripes_->forget(rank);
  }
  lost_peers_.fetch_add(1, std::memory_order_relaxed);
  events_->failed(rank);
}

// --- progress --------------------------------------------------------------------------------------------------------

void WireLink::serve(Connection& connection, std::uint32_t events) {
  if (connection.broken()) return;
  const LinkPeer rank{connection.rank};
  if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) {
    if (connection.flush(gone_) && &connection == peer(rank).bulk.open.get()) push(rank);
  }
  if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 && !connection.broken()) connection.receive(*this);
  if (connection.broken() && !wire_.renew(connection)) lose(rank);
}

// Who has gone without a word?
void WireLink::check_peers() {
  next_check_ns_.store(now_ns() + wire_.timeout_ns() / 4, std::memory_order_relaxed);
  checks_.fetch_add(1, std::memory_order_relaxed);
  wire_.accept_pending();
  for (auto& [rank, other] : peers_) {
    for (const ConnectionState* state : {&other.ordered, &other.bulk}) {
      Connection* const connection = state->open ? state->open.get() : state->asked.get();
      if (connection != nullptr && !wire_.check(*connection)) lose(rank);
    }
  }
}

bool WireLink::readiness() const {
  if (more_.load(std::memory_order_relaxed)) return true;
  const unsigned asked = asked_.load(std::memory_order_relaxed);
  asked_.store(asked + 1, std::memory_order_relaxed);
  const bool now = settings_.waiting != nullptr && settings_.waiting->load(std::memory_order_relaxed) != 0;
  const unsigned every = !now ? kAsk : settings_.turns != nullptr ? settings_.turns() : 1;
  if (asked % every != 0 || forked()) return false;
  if (settings_.waiting != nullptr) return true;
  pollfd watched{.fd = epoll_, .events = POLLIN, .revents = 0};
  const KeptErrno kept;
  return ::poll(&watched, 1, 0) > 0 || now_ns() >= next_check_ns_.load(std::memory_order_relaxed);
}

void WireLink::wait(std::uint64_t ns) const {
  if (forked() || more_.load(std::memory_order_relaxed)) return;
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const timespec timeout{.tv_sec = static_cast<time_t>(ns / kSecond), .tv_nsec = static_cast<long>(ns % kSecond)};
  pollfd watched{.fd = epoll_, .events = POLLIN, .revents = 0};
  const KeptErrno kept;
  if (::ppoll(&watched, 1, &timeout, nullptr) > 0) asked_.store(0, std::memory_order_relaxed);
}

void WireLink::note_sending() {
  const auto gone = [](const ConnectionState& state) { return !state.open || state.open->queue().empty(); };
  const bool by_connections = std::ranges::any_of(peers_, [&](const auto& entry) {
    const Peer& one = entry.second;
    return !one.failed && (!one.held.empty() || !one.leaving.empty() || !gone(one.ordered) || !gone(one.bulk));
  });
  sending_.store(by_connections || (stripes_ && stripes_->sending()), std::memory_order_relaxed);
}

bool WireLink::poll(Events& events) {
  if (forked()) return false;
  const KeptErrno kept;
  events_ = &events;
  std::array<epoll_event, 32> found;
  const int count = epoll_wait(epoll_, found.data(), static_cast<int>(found.size()), 0);
  bool stripes_told = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& one = found[static_cast<std::size_t>(i)];
    if (stripes_ && one.data.ptr == stripes_.get()) {
      stripes_told = true;
    } else if (one.data.ptr == &wire_) {
      wire_.accept_pending();
    } else if (one.data.ptr == nullptr) {
      for (Wire::Accepted& made : wire_.accepted()) adopt(std::move(made));
    } else {
      serve(*static_cast<Connection*>(one.data.ptr), one.events);
    }
  }
  if (now_ns() >= next_check_ns_.load(std::memory_order_relaxed)) check_peers();
  const bool moved = count > 0 || more_.load(std::memory_order_relaxed);
  more_.store(false, std::memory_order_relaxed);
  for (const LinkPeer rank : std::exchange(unfinished_, {})) push(rank);
  if (stripes_told || (stripes_ && stripes_->any_finished())) poll_stripes();
  for (const LinkTicket ticket : std::exchange(sent_, {})) events.sent(ticket);
  for (const LinkPeer rank : std::exchange(lost_, {})) end(rank);
  buried_.clear();
  events_ = nullptr;
  if (moved && sending()) note_sending();
  return moved;
}

}  // namespace urakata::transport
