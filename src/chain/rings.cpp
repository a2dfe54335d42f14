// SPDX-License-Identifier: BSD-3-Clause
#include "chain/rings.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <utility>

#include "base/socket_watch.hpp"
#include "base/system_error.hpp"
#include "chain/compile.hpp"

namespace urakata::chain {
namespace {

constexpr unsigned kFirstRoom = 512;  // requests; an operation with more gets a larger ring

}  // namespace

Rings::~Rings() {
  for (Served& served : rings_) {
    if (served.ring == nullptr) continue;
    SocketWatch::closed(served.ring->descriptor());
    served.ring.reset();
  }
  if (epoll_ >= 0) close(epoll_);
}

Status Rings::open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return system_error("no descriptor is left");
  static_assert(std::size_t{kFirstRoom} << (kMostRings - 1) == kMostEntries);
  return add(kFirstRoom);
}

Status Rings::add(std::size_t requests) {
  auto opened = Ring::open(static_cast<unsigned>(requests));
  if (!opened.ok()) return opened.error();
  epoll_event event{};
  event.events = EPOLLIN;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, (*opened)->descriptor(), &event) != 0) {
    return system_error("watching an io_uring");
  }
  SocketWatch::leave_out((*opened)->descriptor());
  const std::size_t count = made_.load(std::memory_order_relaxed);
  rings_[count].ring = std::move(*opened);
  made_.store(count + 1, std::memory_order_release);
  return Nothing{};
}

Status Rings::make_room(std::size_t requests, bool asks_again) {
  const Served& last = newest();
  const std::size_t room = last.ring->room();
  if (requests <= room && last.pending + requests <= last.ring->results()) return Nothing{};
  const std::size_t wanted = std::max(requests, 2 * room);
  if (wanted > kMostEntries || (refused_ && !asks_again)) return Error{"no ring has more"};
  Status added = add(wanted);
  refused_ = !added.ok();
  return added;
}

int Rings::submit() {
  Served& served = newest();
  const int result = served.ring->submit();
  if (result > 0) served.pending += static_cast<std::size_t>(result);
  return result;
}

}  // namespace urakata::chain
