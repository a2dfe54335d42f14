// SPDX-License-Identifier: BSD-3-Clause
#include "base/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "base/file_bytes.hpp"

namespace urakata {

namespace {

// The interface's speed in Mb/s; 0 or less: the driver does not tell.
long speed_of(const char* interface) {
  return std::strtol(file_bytes(std::string("/sys/class/net/") + interface + "/speed").c_str(), nullptr, 10);
}

// False: another node cannot reach this one by `from`.
bool take_address(const sockaddr& from, InterfaceAddress& to) {
  to.family = from.sa_family;
  if (from.sa_family == AF_INET) {
    std::memcpy(to.bytes.data(), &reinterpret_cast<const sockaddr_in&>(from).sin_addr, 4);
    return true;
  }
  if (from.sa_family != AF_INET6) return false;
  const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(from).sin6_addr;
  if (IN6_IS_ADDR_LINKLOCAL(&six)) return false;
  std::memcpy(to.bytes.data(), &six, to.bytes.size());
  return true;
}

using AllAddresses = std::unique_ptr<ifaddrs, void (*)(ifaddrs*)>;

// The list of all addresses of all interfaces; nullptr: the system does not tell.
AllAddresses all_addresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) first = nullptr;
  return {first, freeifaddrs};
}

bool is_loopback(std::string_view name) {
  const AllAddresses all = all_addresses();
  for (const ifaddrs* one = all.get(); one != nullptr; one = one->ifa_next) {
    if (name == one->ifa_name) return (one->ifa_flags & IFF_LOOPBACK) != 0;
  }
  return false;
}

}  // namespace

std::vector<InterfaceAddress> interface_addresses(std::string_view only) {
  const AllAddresses all = all_addresses();
  std::vector<std::pair<long, InterfaceAddress>> found;
  for (const ifaddrs* one = all.get(); one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (!only.empty() && only != one->ifa_name) continue;
    InterfaceAddress address;
    if (!take_address(*one->ifa_addr, address)) continue;
    address.interface = one->ifa_name;
    found.emplace_back(2 * speed_of(one->ifa_name) + (address.family == AF_INET ? 1 : 0), std::move(address));
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, [](const auto& one) { return one.first; });
  std::vector<InterfaceAddress> addresses;
  for (auto& [worth, address] : found) addresses.push_back(std::move(address));
  return addresses;
}

std::vector<std::string> interface_names(std::string_view only) {
  std::vector<std::string> names;
  for (InterfaceAddress& one : interface_addresses(only)) {
    if (std::ranges::find(names, one.interface) == names.end()) names.push_back(std::move(one.interface));
  }
  return names;
}

std::string why_no_interface(std::string_view name) {
  if (name.empty() || !interface_addresses(name).empty()) return "";
  const std::string asked(name);
  std::string why = if_nametoindex(asked.c_str()) == 0 ? "there is no network interface " + asked
                    : is_loopback(name)                ? "interface " + asked + " leads to no other node"
                                                       : "interface " + asked + " is down or has no address";
  std::string others;
  for (const std::string& one : interface_names("")) others += (others.empty() ? "" : ", ") + one;
  return why + (others.empty() ? "" : ": choose " + others);
}

}  // namespace urakata
