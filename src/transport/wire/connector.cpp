// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/connector.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace urakata::transport {

// -1: errno says why.
int Connector::connecting_socket(const ListenAddress& listener) const {
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

std::unique_ptr<Connection> Connector::connect_to(const ListenAddress& listener, std::int32_t rank, FrameKind first,
                                                  int by) const {
  const int made = connecting_socket(listener);
  if (made < 0) return nullptr;
  auto connection = std::make_unique<Connection>(made, by, true);
  connection->rank = rank;
  connection->ours = true;
  greet(*connection, first);
  return connection;
}

void Connector::greet(Connection& to, FrameKind kind) const {
  to.send({.frame = {.kind = kind, .tag = rank_, .bytes = secret_.low, .id = secret_.high}});
}

bool Connector::begin_again(Connection& one) const {
  const int made = connecting_socket(address_of(one.rank));
  if (made < 0) return false;
  one.begin_again(made);
  return true;
}

bool Connector::check(Connection& one) const {
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

bool Connector::renew(Connection& one) const {
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
