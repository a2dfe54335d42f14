#include "transport/sockets.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/socket_watch.hpp"
#include "base/system_error.hpp"

namespace urakata::transport {
namespace {

// -1: it cannot be had; errno says why, and `what` is set to what was being done.
int bound_socket(const char** what) {
  constexpr int kKind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
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

Error cannot(const char* what, const char* purpose) {
  return system_error(std::string("cannot ") + what + " a socket for " + purpose);
}

}  // namespace

Result<ListenSocket> open_listener(const char* purpose) {
  const char* what = "";
  ListenSocket made{.descriptor = bound_socket(&what), .port = 0};
  if (made.descriptor < 0) return cannot(what, purpose);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (listen(made.descriptor, SOMAXCONN) != 0 ||
      getsockname(made.descriptor, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    const Error error = cannot("listen on", purpose);
    close(made.descriptor);
    return error;
  }
  SocketWatch::leave_out(made.descriptor);
  // Both kinds of address have the port at the same place.
  made.port = ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
  return made;
}

void close_listener(int descriptor) {
  if (descriptor < 0) return;
  SocketWatch::closed(descriptor);
  close(descriptor);
}

void keep_alive(int connection, std::uint64_t timeout_ns) {
  const int half = std::max(static_cast<int>(timeout_ns / 2'000'000'000), 1);
  const int interval = std::max(half / 4, 1);
  set_option(connection, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(connection, IPPROTO_TCP, TCP_KEEPIDLE, half);
  set_option(connection, IPPROTO_TCP, TCP_KEEPINTVL, interval);
  set_option(connection, IPPROTO_TCP, TCP_KEEPCNT, std::max(half / interval, 1));
}

void set_option(int socket, int level, int name, int value) { setsockopt(socket, level, name, &value, sizeof value); }

}  // namespace urakata::transport
