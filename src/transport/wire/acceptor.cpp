// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/acceptor.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.hpp"
#include "transport/wire/wire_errors.hpp"

namespace urakata::transport {

namespace {

constexpr const char* kPurpose = "messages between nodes";
constexpr long kPause = 100'000'000;  // ns

}  // namespace

Acceptor::~Acceptor() {
  unnamed_.clear();
  close_listeners(listeners_.descriptors);
  if (pause_end_ >= 0) close(pause_end_);
  if (set_ >= 0) close(set_);
}

Status Acceptor::open(std::span<const InterfaceAddress> only) {
  set_ = epoll_create1(EPOLL_CLOEXEC);
  if (set_ < 0) return no_wire("make an epoll set");
  pause_end_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (pause_end_ < 0) return no_wire("make a timer");
  if (!ordered_or_bulk_.open() || !stripes_.open()) return no_wire("make an eventfd");
  auto listeners = open_listeners(kPurpose, only);
  if (!listeners.ok()) return no_wire(listeners.error());
  listeners_ = std::move(*listeners);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  std::vector<int> watched = listeners_.descriptors;
  watched.push_back(pause_end_);
  for (const int one : watched) {
    if (epoll_ctl(set_, EPOLL_CTL_ADD, one, &event) != 0) return no_wire("watch a socket");
  }
  return Nothing{};
}

void Acceptor::watch_listeners(std::uint32_t events) const {
  epoll_event event{};
  event.events = events;
  event.data.ptr = nullptr;
  for (const int listener : listeners_.descriptors) epoll_ctl(set_, EPOLL_CTL_MOD, listener, &event);
}

void Acceptor::pause() {
  itimerspec times{};
  times.it_value.tv_nsec = kPause;
  timerfd_settime(pause_end_, 0, &times, nullptr);
  watch_listeners(0);
  paused_ = true;
}

// False: it is not over.
bool Acceptor::end_pause() {
  std::uint64_t word = 0;
  if (read(pause_end_, &word, sizeof word) < 0) return false;
  watch_listeners(EPOLLIN);
  paused_ = false;
  return true;
}

void Acceptor::accept_connections() {
  if (paused_ && !end_pause()) return;
  for (const int listener : listeners_.descriptors) {
    for (std::size_t i = 0; i < kMostUnauthenticated; ++i) {  // the rest of them with the next poll
      const int made = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (made < 0 && cannot_accept(errno, kPurpose)) return pause();
      if (made < 0) break;
      set_option(made, IPPROTO_TCP, TCP_NODELAY, 1);
      keep_alive(made, timeout_ns_);
      unnamed_.push_back(std::make_unique<Connection>(made, set_, false));
      unnamed_.back()->accepted_ns = now_ns();
    }
  }
}

std::unique_ptr<Connection> Acceptor::claim(const Connection& one) {
  const auto found = std::ranges::find_if(unnamed_, [&](const auto& other) { return other.get() == &one; });
  if (found == unnamed_.end()) return nullptr;
  auto claimed = std::move(*found);
  unnamed_.erase(found);
  claimed->named = true;
  return claimed;
}

bool Acceptor::hand_over(const Connection& from, const Frame& frame) {
  auto claimed = claim(from);
  if (!claimed) return false;
  claimed->rank = frame.tag;
  claimed->watched_by(-1);
  AcceptedQueue& owner = frame.kind == FrameKind::hello_stripe ? stripes_ : ordered_or_bulk_;
  owner.add({.connection = std::move(claimed), .kind = frame.kind});
  return true;
}

void Acceptor::check() {
  constexpr unsigned kUnauthenticatedChecks = 3;  // what somebody says first comes with the connection
  for (const auto& one : unnamed_) {
    if (!one->broken() && ++one->checks == kUnauthenticatedChecks) one->end();
  }
}

void Acceptor::close_surplus() {
  std::erase_if(unnamed_, [](const auto& one) { return one->broken(); });
  if (unnamed_.size() > kMostUnauthenticated) close_silent();
}

// Closes the oldest connections that have said nothing. A young one may be a rank's probe, which does not come again.
void Acceptor::close_silent() {
  std::size_t unauthenticated = unnamed_.size();
  const std::size_t most = most_unauthenticated();
  const std::uint64_t now = now_ns();
  std::erase_if(unnamed_, [&](const auto& one) {
    if (unauthenticated <= kMostUnauthenticated) return false;
    if (unauthenticated <= most && now - one->accepted_ns < kFirstBytesTime) return false;
    int waiting = 0;  // bytes that this process has not read yet
    const bool silent = ioctl(one->socket(), FIONREAD, &waiting) != 0 || waiting < static_cast<int>(sizeof(Frame));
    if (silent) --unauthenticated;
    return silent;
  });
}

}  // namespace urakata::transport
