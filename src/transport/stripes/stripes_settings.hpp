// SPDX-License-Identifier: BSD-3-Clause
// What transport `stripes` is told when it is opened; constant from then on.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "transport/wire/node_probe.hpp"
#include "transport/wire/tcp_facts.hpp"

namespace urakata::transport {

struct StripesSettings {
  std::uint32_t streams = 4;  // stripes of a pair, in each direction
  std::string congestion;     // control, by the kernel's name; empty: the system's
  // What time it is, and what the kernel knows of a connection; a test gives its own, to let time pass.
  std::uint64_t (*now)() = now_ns;
  TcpFacts (*facts)(int socket) = tcp_facts;
  bool (*answered)(NodeProbe& node) = [](NodeProbe& node) { return node.answered(); };
};

}  // namespace urakata::transport
