// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/wire.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include "base/mutex.hpp"
#include "transport/wire/wire_errors.hpp"

namespace urakata::transport {

Wire::Wire(std::int32_t rank, Secret secret, Failures& failures, std::uint64_t timeout_ns)
    : failures_(failures),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      connector_(rank, secret, timeout_ns),
      acceptor_(timeout_ns),
      peers_(connector_, sinks_, epoll_, failures.code),
      events_(connector_, acceptor_, prober_, peers_, puts_, failures),
      puts_(lock_, peers_, sinks_),
      prober_(lock_, connector_, epoll_) {}

Result<std::unique_ptr<Wire>> Wire::open(std::int32_t rank, Secret secret, Failures& failures, std::uint64_t timeout_ns,
                                         std::span<const InterfaceAddress> only) {
  std::unique_ptr<Wire> wire(new Wire(rank, secret, failures, timeout_ns));
  if (wire->epoll_ < 0) return no_wire("make an epoll set");
  if (auto opened = wire->acceptor_.open(only); !opened.ok()) return opened.error();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &wire->acceptor_;
  if (epoll_ctl(wire->epoll_, EPOLL_CTL_ADD, wire->accepting(), &event) != 0) return no_wire("watch a socket");
  return wire;
}

Wire::~Wire() {
  if (epoll_ >= 0) close(epoll_);
}

void Wire::poll(int set) {
  const LockGuard guard(lock_);
  events_.poll(set);
}

std::vector<Wire::Accepted> Wire::accepted() {
  const LockGuard guard(lock_);
  return acceptor_.ordered_or_bulk().take();
}

std::vector<Wire::Accepted> Wire::accepted_stripes() {
  const LockGuard guard(lock_);
  return acceptor_.stripes().take();
}

}  // namespace urakata::transport
