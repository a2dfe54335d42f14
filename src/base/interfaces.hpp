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
  std::array<std::byte, 16> bytes{};  // in network byte order; AF_INET: the first four
};

// The addresses of all interfaces that are up and no loopback, without IPv6 link-local ones. The fastest interface
// comes first; at equal speed IPv4 does. `only`: the name of the one interface to look at; empty: all. The result is
// empty if there is no address, or if the system does not tell.
std::vector<InterfaceAddress> interface_addresses(std::string_view only);
// The interfaces that interface_addresses(only) finds, by name, in the same order, each once.
std::vector<std::string> interface_names(std::string_view only);

// Why no other node can reach this one by the interface `name`: a clause, then a colon and the interfaces to choose
// instead, if there are any. Empty: other nodes can, or `name` is empty.
std::string why_no_interface(std::string_view name);

}  // namespace urakata
