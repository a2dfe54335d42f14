// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/node_probe.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/socket_watch.hpp"

namespace urakata::transport {

namespace {

ListenAddress beside(const ListenAddress& listener) {
  ListenAddress address = listener;
  // Both kinds of address have the port at the same place.
  auto& port = reinterpret_cast<sockaddr_in&>(address.address).sin_port;
  port = htons(ntohs(port) ^ 1U);
  return address;
}

}  // namespace

NodeProbe::NodeProbe(const ListenAddress& listener)
    : socket_(socket(listener.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  if (socket_ < 0) return;
  SocketWatch::leave_out(socket_);
  close_at_once(socket_);
  const ListenAddress address = beside(listener);
  const int code =
      connect(socket_, reinterpret_cast<const sockaddr*>(&address.address), address.length) == 0 ? 0 : errno;
  if (code != EINPROGRESS) finish(code);
}

NodeProbe::~NodeProbe() {
  if (socket_ >= 0) finish(ECANCELED);
}

bool NodeProbe::answered() {
  if (socket_ < 0) return answered_;
  pollfd waiting{.fd = socket_, .events = POLLOUT, .revents = 0};
  if (poll(&waiting, 1, 0) <= 0) return false;
  int code = 0;
  socklen_t size = sizeof code;
  finish(getsockopt(socket_, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno);
  return answered_;
}

void NodeProbe::finish(int error) {
  answered_ = error == 0 || error == ECONNREFUSED || error == ECONNRESET;
  SocketWatch::closed(socket_);
  close(socket_);
  socket_ = -1;
}

}  // namespace urakata::transport
