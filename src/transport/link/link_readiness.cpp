// SPDX-License-Identifier: BSD-3-Clause
#include "transport/link/link_readiness.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <ctime>

#include "base/clock.hpp"
#include "transport/wire/kept_errno.hpp"

namespace urakata::transport {

namespace {

constexpr unsigned kAsk = 16;  // calls of ready() for one question to the kernel

}  // namespace

LinkReadiness::LinkReadiness(const LinkSettings& settings, const ForkWatch& forks, std::uint64_t check_ns)
    : settings_(settings),
      forks_(forks),
      check_ns_(check_ns),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      next_check_ns_(now_ns() + check_ns) {}

LinkReadiness::~LinkReadiness() {
  if (epoll_ >= 0) close(epoll_);
}

bool LinkReadiness::watch(int descriptor, void* name) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = name;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

bool LinkReadiness::ready() const {
  if (more_.load(std::memory_order_relaxed)) return true;
  const unsigned asked = asked_.load(std::memory_order_relaxed);
  asked_.store(asked + 1, std::memory_order_relaxed);
  const bool now = settings_.waiting != nullptr && settings_.waiting->load(std::memory_order_relaxed) != 0;
  const unsigned every = !now ? kAsk : settings_.turns != nullptr ? settings_.turns() : 1;
  if (asked % every != 0 || forks_.forked()) return false;
  if (settings_.waiting != nullptr) return true;
  pollfd watched{.fd = epoll_, .events = POLLIN, .revents = 0};
  const KeptErrno kept;
  return ::poll(&watched, 1, 0) > 0 || check_due();
}

void LinkReadiness::wait(std::uint64_t ns) const {
  if (forks_.forked() || more_.load(std::memory_order_relaxed)) return;
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const timespec timeout{.tv_sec = static_cast<time_t>(ns / kSecond), .tv_nsec = static_cast<long>(ns % kSecond)};
  pollfd watched{.fd = epoll_, .events = POLLIN, .revents = 0};
  const KeptErrno kept;
  if (::ppoll(&watched, 1, &timeout, nullptr) > 0) asked_.store(0, std::memory_order_relaxed);
}

bool LinkReadiness::take_more() {
  const bool more = more_.load(std::memory_order_relaxed);
  more_.store(false, std::memory_order_relaxed);
  return more;
}

bool LinkReadiness::check_due() const { return now_ns() >= next_check_ns_.load(std::memory_order_relaxed); }

void LinkReadiness::note_check() {
  next_check_ns_.store(now_ns() + check_ns_, std::memory_order_relaxed);
  checks_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace urakata::transport
