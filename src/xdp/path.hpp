// SPDX-License-Identifier: BSD-3-Clause
// The path by which this node sends to another one. Its interface is the one at which eBPF code must be attached.
#pragma once

#include <netinet/in.h>

#include <cstdint>

#include "base/result.hpp"

namespace urakata::xdp {

struct Path {
  sockaddr_in address{};    // address of this node from which packets to the other one leave; port 0
  unsigned interface = 0;   // number of the interface that has the address
  std::uint32_t bytes = 0;  // most bytes of a packet there, with the header of IPv4 (MTU); 0: not known
};
// Sends nothing. Error: there is no route, or no interface has the address.
Result<Path> path_to(const sockaddr_in& other);

}  // namespace urakata::xdp
