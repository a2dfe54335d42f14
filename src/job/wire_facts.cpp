// What this rank says of itself for transport `wire`: limits, network interfaces.
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/options.hpp"
#include "job/wiring.hpp"

namespace urakata::job {

namespace {

bool has_entries(const char* folder) {
  DIR* directory = opendir(folder);
  if (directory == nullptr) return false;
  bool found = false;
  while (const dirent* entry = readdir(directory)) found = found || entry->d_name[0] != '.';
  closedir(directory);
  return found;
}

long speed_of(const char* interface) {
  const std::string path = std::string("/sys/class/net/") + interface + "/speed";
  long speed = 0;
  if (std::FILE* file = std::fopen(path.c_str(), "re")) {
    if (std::fscanf(file, "%ld", &speed) != 1) speed = 0;
    std::fclose(file);
  }
  return speed;
}

std::vector<Address> own_addresses() {
  std::vector<std::pair<long, Address>> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (!options().wire_interface.empty() && options().wire_interface != one->ifa_name) continue;
    Address address;
    address.family = one->ifa_addr->sa_family;
    long worth = speed_of(one->ifa_name) * 2;
    if (address.family == AF_INET) {
      std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, 4);
      ++worth;
    } else if (address.family == AF_INET6) {
      const in6_addr& six = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
      if (IN6_IS_ADDR_LINKLOCAL(&six)) continue;
      std::memcpy(address.bytes.data(), &six, 16);
    } else {
      continue;
    }
    found.emplace_back(worth, address);
  }
  freeifaddrs(all);
  std::ranges::stable_sort(found, std::ranges::greater{}, [](const auto& one) { return one.first; });
  std::vector<Address> addresses;
  for (const auto& [worth, address] : found) addresses.push_back(address);
  return addresses;
}

// So many connections with each rank of another node, for a moment twice as many where both begin, and what program and
// host need.
std::size_t descriptors_wanted(std::span<const std::int32_t> nodes, std::int32_t rank, std::size_t connections) {
  constexpr std::size_t kOthers = 256;
  const std::int32_t own_node = nodes[static_cast<std::size_t>(rank)];
  const auto apart = std::ranges::count_if(nodes, [&](auto node) { return node != own_node; });
  return 2 * connections * static_cast<std::size_t>(apart) + kOthers;
}

std::size_t descriptors_allowed() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace

bool has_better_network() { return has_entries("/sys/class/infiniband") || has_entries("/sys/class/cxi"); }

bool room_for_link(std::span<const std::int32_t> nodes, std::int32_t rank, std::size_t more) {
  constexpr std::size_t kOfLink = 2;
  return descriptors_wanted(nodes, rank, 1 + kOfLink + more) <= descriptors_allowed();
}

WireFacts own_wire_facts(std::span<const std::int32_t> nodes, std::int32_t rank, bool wanted, bool better_first) {
  WireFacts facts;
  if (!wanted) {
    facts.obstacle = WireFacts::Obstacle::asked;
  } else if (descriptors_wanted(nodes, rank, 1) > descriptors_allowed()) {
    facts.obstacle = WireFacts::Obstacle::descriptors;
  }
  facts.fast = better_first && has_better_network();
  facts.addresses = own_addresses();
  return facts;
}

}  // namespace urakata::job
