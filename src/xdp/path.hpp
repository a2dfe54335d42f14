// SPDX-License-Identifier: BSD-3-Clause
// The path by which this node sends to another: what eBPF code is attached to.
#pragma once

#include <netinet/in.h>

#include <cstdint>

#include "base/result.hpp"

namespace urakata::xdp {

struct Path {
  sockaddr_in address{};    // of this node, as the other sees it; without a port
  unsigned interface = 0;   // that has it
  std::uint32_t bytes = 0;  // of a packet there, with the headers of IPv4
};
Result<Path> path_to(const sockaddr_in& other);

}  // namespace urakata::xdp
