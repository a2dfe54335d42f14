// SPDX-License-Identifier: BSD-3-Clause
#include "xdp/path.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/system_error.hpp"

namespace urakata::xdp {

namespace {

// The number of the interface that has the address; 0: none.
unsigned interface_of(const sockaddr_in& address) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return 0;
  unsigned found = 0;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if (reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr == address.sin_addr.s_addr) {
      found = if_nametoindex(one->ifa_name);
    }
  }
  freeifaddrs(all);
  return found;
}

std::uint32_t packet_bytes(unsigned interface, int socket) {
  ifreq question{};
  if (if_indextoname(interface, question.ifr_name) == nullptr || ioctl(socket, SIOCGIFMTU, &question) != 0) return 0;
  return static_cast<std::uint32_t>(std::max(question.ifr_mtu, 0));
}

}  // namespace

Result<Path> path_to(const sockaddr_in& other) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return system_error("making a socket");
  Path path;
  socklen_t length = sizeof path.address;
  const bool known = connect(socket, reinterpret_cast<const sockaddr*>(&other), sizeof other) == 0 &&
                     getsockname(socket, reinterpret_cast<sockaddr*>(&path.address), &length) == 0;
  const Error why = system_error("finding the path to another node");
  path.address.sin_port = 0;
  if (known) path.interface = interface_of(path.address);
  if (path.interface != 0) path.bytes = packet_bytes(path.interface, socket);
  close(socket);
  if (!known) return why;
  if (path.interface == 0) return Error{"no interface of this node has the address by which other nodes reach it"};
  return path;
}

}  // namespace urakata::xdp
