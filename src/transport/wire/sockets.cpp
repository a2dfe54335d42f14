// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/sockets.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>

#include "base/log.hpp"
#include "base/socket_watch.hpp"
#include "base/system_error.hpp"

namespace urakata::transport {
namespace {

constexpr int kKind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
constexpr unsigned kAttempts = 16;  // to find a port that is free at each of several addresses

// -1: it cannot be had; errno says why, and `what` is set to what was being done.
int bound_everywhere(const char** what) {
  sockaddr_in6 both{};
  both.sin6_family = AF_INET6;
  both.sin6_addr = in6addr_any;
  if (const int made = socket(AF_INET6, kKind, 0); made >= 0) {
    set_option(made, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (bind(made, reinterpret_cast<sockaddr*>(&both), sizeof both) == 0) return made;
    close(made);
  }
  sockaddr_in plain{};
  plain.sin_family = AF_INET;
  plain.sin_addr.s_addr = htonl(INADDR_ANY);
  *what = "make";
  const int made = socket(AF_INET, kKind, 0);
  if (made < 0 || bind(made, reinterpret_cast<sockaddr*>(&plain), sizeof plain) == 0) return made;
  *what = "bind";
  const int code = errno;
  close(made);
  errno = code;
  return -1;
}

// The same at one address; port 0: at any.
int bound_at(const InterfaceAddress& where, std::uint16_t port, const char** what) {
  *what = "make";
  const int made = socket(where.family, kKind, 0);
  if (made < 0) return -1;
  sockaddr_storage address{};
  socklen_t size = 0;
  if (where.family == AF_INET) {
    auto& four = reinterpret_cast<sockaddr_in&>(address);
    size = sizeof four;
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    std::memcpy(&four.sin_addr, where.bytes.data(), sizeof four.sin_addr);
  } else {
    auto& six = reinterpret_cast<sockaddr_in6&>(address);
    size = sizeof six;
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    std::memcpy(&six.sin6_addr, where.bytes.data(), sizeof six.sin6_addr);
    set_option(made, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  }
  if (bind(made, reinterpret_cast<sockaddr*>(&address), size) == 0) return made;
  *what = "bind";
  const int code = errno;
  close(made);
  errno = code;
  return -1;
}

// 0: errno says why it is not known.
std::uint16_t port_of(int descriptor) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  // Both kinds of address have the port at the same place.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

// Sockets bound to each of the addresses, with one port. An address that cannot be used now is left out, as IPv6
// addresses whose uniqueness is being checked. False: errno says why, and `what` what was being done. What was made is
// in `made` all the same.
bool bind_all(std::span<const InterfaceAddress> only, ListenSockets& made, const char** what) {
  if (only.empty()) {
    if (const int one = bound_everywhere(what); one >= 0) made.descriptors.push_back(one);
  }
  for (const InterfaceAddress& where : only) {
    const int one = bound_at(where, made.port, what);
    if (one < 0 && errno == EADDRNOTAVAIL) continue;
    if (one < 0) return false;
    made.descriptors.push_back(one);
    if (made.port == 0) made.port = port_of(one);
  }
  if (made.descriptors.empty()) return false;
  *what = "listen on";
  made.port = port_of(made.descriptors.front());
  // The kernel shortens the queue to what net.core.somaxconn allows.
  return made.port != 0 && std::ranges::all_of(made.descriptors, [](int one) { return listen(one, INT_MAX) == 0; });
}

Error cannot(const char* what, const char* purpose) {
  return system_error(std::string("cannot ") + what + " a socket for " + purpose);
}

}  // namespace

Result<ListenSockets> open_listeners(const char* purpose, std::span<const InterfaceAddress> only) {
  for (unsigned attempt = 1;; ++attempt) {
    const char* what = "";
    ListenSockets made;
    if (bind_all(only, made, &what)) {
      std::ranges::for_each(made.descriptors, SocketWatch::leave_out);
      return made;
    }
    // A port that is free at the first address may be taken at another.
    const bool again = errno == EADDRINUSE && only.size() > 1 && attempt < kAttempts;
    Error error = cannot(what, purpose);
    std::ranges::for_each(made.descriptors, close);
    if (!again) return error;
  }
}

void close_listeners(std::span<const int> descriptors) {
  for (const int descriptor : descriptors) {
    SocketWatch::closed(descriptor);
    close(descriptor);
  }
}

bool cannot_accept(int code, const char* purpose) {
  if (code != EMFILE && code != ENFILE && code != ENOBUFS && code != ENOMEM) return false;
  log::warning("cannot accept connections for %s: %s; they wait until there is room (limit of open files: ulimit -n)",
               purpose, std::strerror(code));
  return true;
}

void keep_alive(int connection, std::uint64_t timeout_ns) {
  const int half = std::max(static_cast<int>(timeout_ns / 2'000'000'000), 1);
  const int interval = std::max(half / 4, 1);
  set_option(connection, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(connection, IPPROTO_TCP, TCP_KEEPIDLE, half);
  set_option(connection, IPPROTO_TCP, TCP_KEEPINTVL, interval);
  set_option(connection, IPPROTO_TCP, TCP_KEEPCNT, std::max(half / interval, 1));
}

std::size_t most_unauthenticated() {
  constexpr rlim_t kMost = 1024;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMost;
  return std::min(kMost, limit.rlim_cur / 4);
}

void close_at_once(int connection) {
  constexpr linger kNow{.l_onoff = 1, .l_linger = 0};
  setsockopt(connection, SOL_SOCKET, SO_LINGER, &kNow, sizeof kNow);
}

void set_option(int socket, int level, int name, int value) { setsockopt(socket, level, name, &value, sizeof value); }

}  // namespace urakata::transport
