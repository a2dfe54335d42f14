// SPDX-License-Identifier: BSD-3-Clause
// The addresses by which other nodes may reach this one over its network interfaces. Thread-safety: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace urakata {

struct InterfaceAddress {
  std::string interface;
  int family = 0;                     // AF_INET or AF_INET6
  std::array<std::byte, 16> bytes{};  // in the network's order; of AF_INET the first four
};

// Of all interfaces that are up and no loopback, those of the fastest first, and at the same speed IPv4 first. `only`:
// of this interface; empty: of all. Empty where there are none, or the system does not say.
std::vector<InterfaceAddress> interface_addresses(std::string_view only);
// The names of those interfaces in the same order, each once.
std::vector<std::string> interface_names(std::string_view only);

// Why no other node can reach this one by the interface of that name. A whole clause, and after a colon what to choose
// instead; empty: others can, or no name was given.
std::string why_no_interface(std::string_view name);

}  // namespace urakata
