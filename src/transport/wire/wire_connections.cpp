// SPDX-License-Identifier: BSD-3-Clause
// The connections of a process: made, accepted, watched, and made anew where the other process has not answered yet.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

// -1: errno says why.
int Wire::connecting_socket(const ListenAddress& listener) const {
  const int made = socket(listener.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  set_option(made, IPPROTO_TCP, TCP_NODELAY, 1);
  keep_alive(made, timeout_ns_);
  if (connect(made, reinterpret_cast<const sockaddr*>(&listener.address), listener.length) == 0 ||
      errno == EINPROGRESS) {
    return made;
  }
  const int code = errno;
  close(made);
  errno = code;
  return -1;
}

std::unique_ptr<Connection> Wire::connect_to(const ListenAddress& listener, std::int32_t rank, FrameKind first,
                                             int by) const {
  const int made = connecting_socket(listener);
  if (made < 0) return nullptr;
  auto connection = std::make_unique<Connection>(made, by, true);
  connection->rank = rank;
  connection->ours = true;
  greet(*connection, first);
  return connection;
}

void Wire::accept_connections() {
  for (const int listener : listeners_.descriptors) {
    for (std::size_t i = 0; i < kMostUnauthenticated; ++i) {  // the rest of them with the next poll
      const int made = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (made < 0) break;
      set_option(made, IPPROTO_TCP, TCP_NODELAY, 1);
      keep_alive(made, timeout_ns_);
      connections_.push_back(std::make_unique<Connection>(made, accepting_, false));
      connections_.back()->accepted_ns = now_ns();
    }
  }
}

// Closes the oldest connections that have not named the secret and said nothing, where there are too many. A young one
// may be a rank's probe, which does not come again.
void Wire::close_silent(std::size_t unauthenticated) {
  const std::size_t most = most_unauthenticated();
  const std::uint64_t now = now_ns();
  std::erase_if(connections_, [&](const auto& one) {
    if (unauthenticated <= kMostUnauthenticated || one->ours || one->named) return false;
    if (unauthenticated <= most && now - one->accepted_ns < kFirstBytesTime) return false;
    int waiting = 0;  // bytes that this process has not read yet
    const bool silent = ioctl(one->socket(), FIONREAD, &waiting) != 0 || waiting < static_cast<int>(sizeof(Frame));
    if (silent) --unauthenticated;
    return silent;
  });
}

// Who has gone without a word?
void Wire::check_connections() {
  const std::uint64_t now = now_ns();
  if (now < next_check_ns_) return;
  next_check_ns_ = now + timeout_ns_ / 4;
  constexpr unsigned kUnauthenticatedChecks = 3;  // what somebody says first comes with the connection
  for (const auto& one : connections_) {
    if (one->broken()) continue;
    if (!one->ours && !one->named) {
      if (++one->checks == kUnauthenticatedChecks) one->end();
    } else if (!check(*one)) {
      lost(*one);
    }
  }
  for (auto& [rank, from] : peers_) {
    if (!from.posted.empty() && !link_to(rank, from)) lose_receives(from);
  }
}

bool Wire::begin_again(Connection& one) const {
  const int made = connecting_socket(address_of(one.rank));
  if (made < 0) return false;
  one.begin_again(made);
  return true;
}

bool Wire::check(Connection& one) const {
  const bool unanswered = one.ours && !one.open && one.rank >= 0;
  if (unanswered && one.node && one.node->answered()) {
    one.forget_silence();
    one.renewed = 0;
    // The kernel would ask for it ever more seldom, and give up in the end.
    if (one.connecting()) begin_again(one);
  }
  one.node.reset();
  if (!one.check(static_cast<std::uint32_t>(timeout_ns_ / 2'000'000))) return false;
  if (unanswered && one.silent()) one.node = std::make_unique<NodeProbe>(address_of(one.rank));
  return true;
}

bool Wire::renew(Connection& one) const {
  constexpr unsigned kMostRenewals = 16;
  if (!one.ours || one.open || one.rank < 0) return false;
  switch (one.error()) {
    case 0:
    case ECONNRESET:
    case EPIPE:  // closed there. A process that has ended refuses the next connection.
      return ++one.renewed <= kMostRenewals && begin_again(one);
    case ETIMEDOUT:  // by the kernel, which has asked for it as often as it does
      return one.node && one.node->answered() && begin_again(one);
    default:
      return false;
  }
}

}  // namespace urakata::transport
