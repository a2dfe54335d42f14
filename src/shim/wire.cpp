#include "shim/wire.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/options.hpp"
#include "shim/host.hpp"

namespace urakata::shim {

namespace {

using transport::Door;

constexpr std::uint64_t kPreferred = 100'000'000;  // ns that the best address has before the next best is taken
constexpr std::uint64_t kPatience = 2'000'000'000;
constexpr std::size_t kMostAddresses = 8;

// What a rank tells the others. The same size everywhere; the addresses are its node's, the best first.
struct Offer {
  std::uint32_t usable = 0;  // this rank can and may use a wire
  std::uint16_t door = 0;
  std::uint16_t addresses = 0;
  struct Address {
    std::uint32_t family = 0;
    std::array<std::byte, 16> bytes{};
  };
  std::array<Address, kMostAddresses> address{};
};

bool has_entries(const char* folder) {
  DIR* directory = opendir(folder);
  if (directory == nullptr) return false;
  bool found = false;
  while (const dirent* entry = readdir(directory)) found = found || entry->d_name[0] != '.';
  closedir(directory);
  return found;
}

// A network that the host drives without the kernel's TCP: InfiniBand and its like, Slingshot.
bool has_fast_network() { return has_entries("/sys/class/infiniband") || has_entries("/sys/class/cxi"); }

long speed_of(const char* interface) {
  const std::string path = std::string("/sys/class/net/") + interface + "/speed";
  long speed = 0;
  if (std::FILE* file = std::fopen(path.c_str(), "re")) {
    if (std::fscanf(file, "%ld", &speed) != 1) speed = 0;
    std::fclose(file);
  }
  return speed;
}

std::vector<Offer::Address> own_addresses() {
  std::vector<std::pair<long, Offer::Address>> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (!options().wire_interface.empty() && options().wire_interface != one->ifa_name) continue;
    Offer::Address address;
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
  std::vector<Offer::Address> addresses;
  for (const auto& [worth, address] : found) addresses.push_back(address);
  addresses.resize(std::min(addresses.size(), kMostAddresses));
  return addresses;
}

Door door_of(const Offer::Address& address, std::uint16_t number) {
  Door door;
  if (address.family == AF_INET) {
    auto& four = reinterpret_cast<sockaddr_in&>(door.address);
    four.sin_family = AF_INET;
    four.sin_port = htons(number);
    std::memcpy(&four.sin_addr, address.bytes.data(), 4);
    door.length = sizeof four;
  } else {
    auto& six = reinterpret_cast<sockaddr_in6&>(door.address);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(number);
    std::memcpy(&six.sin6_addr, address.bytes.data(), 16);
    door.length = sizeof six;
  }
  return door;
}

// A connection with each rank of another node, for a moment two where both begin, and what program and host need.
std::size_t descriptors_wanted(std::span<const std::int32_t> nodes, std::int32_t own_node) {
  constexpr std::size_t kOthers = 256;
  return 2 * static_cast<std::size_t>(std::ranges::count_if(nodes, [&](auto node) { return node != own_node; })) +
         kOthers;
}

std::size_t descriptors_allowed() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

// Which of the doors is the rank's: its index, or -1. Answers those who knock here meanwhile, until all are done.
int try_doors(transport::Wire& wire, MPI_Comm world, std::span<const Door> doors, std::int32_t rank) {
  int chosen = -1;
  const std::uint64_t begin = now_ns();
  wire.knock(doors, rank);
  for (;;) {
    wire.step();
    chosen = wire.opened();
    const std::uint64_t waited = now_ns() - begin;
    if (chosen == 0 || (chosen > 0 && waited > kPreferred) || waited > kPatience || doors.empty()) break;
    sched_yield();
  }
  MPI_Request barrier = MPI_REQUEST_NULL;
  host.Ibarrier(world, &barrier);
  for (int done = 0; done == 0;) {
    wire.step();
    host.Test(&barrier, &done, MPI_STATUS_IGNORE);
    sched_yield();
  }
  wire.end_knocking();
  return chosen;
}

void wait_for_barrier(MPI_Comm world) {
  MPI_Request barrier = MPI_REQUEST_NULL;
  host.Ibarrier(world, &barrier);
  host.Wait(&barrier, MPI_STATUS_IGNORE);
}

}  // namespace

OpenWire open_wire(MPI_Comm world, int rank, std::span<const std::int32_t> nodes, transport::Failures& failures) {
  const auto own = static_cast<std::size_t>(rank);
  if (std::ranges::adjacent_find(nodes, std::ranges::not_equal_to{}) == nodes.end()) {
    return {nullptr, "all ranks are on one node"};
  }
  transport::Secret secret;
  if (getrandom(&secret, sizeof secret, 0) != sizeof secret) secret = {};
  MPI_Request spreading = MPI_REQUEST_NULL;
  host.Ibcast(&secret, sizeof secret, MPI_BYTE, 0, world, &spreading);
  host.Wait(&spreading, MPI_STATUS_IGNORE);
  if (secret == transport::Secret{}) return {nullptr, "the system has no random numbers for the job's secret"};

  Offer mine;
  std::string why;
  std::unique_ptr<transport::Wire> wire;
  if (options().transport == TransportWish::host) {
    why = "asked for";
  } else if (options().transport == TransportWish::automatic && has_fast_network()) {
    why = "there is a network that the host drives better than TCP";
  } else if (const std::size_t wanted = descriptors_wanted(nodes, nodes[own]); wanted > descriptors_allowed()) {
    why = "it may need " + std::to_string(wanted) + " descriptors, and the limit is " +
          std::to_string(descriptors_allowed()) + " (ulimit -n)";
  } else if (auto opened = transport::Wire::open(rank, secret, failures, options().peer_timeout_ns()); !opened.ok()) {
    why = opened.error().message;
  } else {
    wire = std::move(*opened);
    mine.usable = 1;
    mine.door = wire->door();
    const auto addresses = own_addresses();
    std::ranges::copy(addresses, mine.address.begin());
    mine.addresses = static_cast<std::uint16_t>(addresses.size());
  }
  std::vector<Offer> offers(nodes.size());
  host.Allgather(&mine, sizeof mine, MPI_BYTE, offers.data(), sizeof mine, MPI_BYTE, world);
  if (!std::ranges::all_of(offers, [](const Offer& offer) { return offer.usable != 0; })) {
    return {nullptr, why.empty() ? "another rank cannot or may not" : why};
  }

  std::vector<std::int32_t> leaders(nodes.begin(), nodes.end());
  std::ranges::sort(leaders);
  leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
  int chosen = -1;
  if (nodes[own] == rank) {
    const auto at = static_cast<std::size_t>(std::ranges::find(leaders, rank) - leaders.begin());
    const std::int32_t next = leaders[(at + 1) % leaders.size()];
    const Offer& offer = offers[static_cast<std::size_t>(next)];
    std::vector<Door> doors;
    for (std::size_t i = 0; i < offer.addresses; ++i) doors.push_back(door_of(offer.address[i], offer.door));
    chosen = try_doors(*wire, world, doors, next);
  } else {
    wait_for_barrier(world);
  }
  std::vector<int> all(nodes.size());
  host.Allgather(&chosen, 1, MPI_INT, all.data(), 1, MPI_INT, world);
  std::vector<Door> doors(nodes.size());
  for (std::size_t i = 0; i < leaders.size(); ++i) {
    const int address = all[static_cast<std::size_t>(leaders[i])];
    if (address < 0) {
      return {nullptr, "the node of rank " + std::to_string(leaders[(i + 1) % leaders.size()]) +
                           " cannot be reached over TCP from that of rank " + std::to_string(leaders[i])};
    }
    const std::int32_t node = leaders[(i + 1) % leaders.size()];
    const Offer& first = offers[static_cast<std::size_t>(node)];
    for (std::size_t other = 0; other < nodes.size(); ++other) {
      if (nodes[other] == node && node != nodes[own]) {
        doors[other] = door_of(first.address[static_cast<std::size_t>(address)], offers[other].door);
      }
    }
  }
  wire->set_doors(std::move(doors));
  return {std::move(wire), "TCP is the only network between the nodes"};
}

}  // namespace urakata::shim
