// SPDX-License-Identifier: BSD-3-Clause
// What this rank says of itself for transport `wire`: limits, network interfaces.
#include <net/if.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interfaces.hpp"
#include "base/options/options.hpp"
#include "job/wiring.hpp"

namespace urakata::job {

namespace {

// `connections` with each rank of another node, for a moment twice as many if both ranks connect at once, plus kOthers
// for the program and the MPI library.
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

bool room_for_link(std::span<const std::int32_t> nodes, std::int32_t rank, std::size_t more) {
  constexpr std::size_t kOfLink = 2;
  return descriptors_wanted(nodes, rank, 1 + kOfLink + more) <= descriptors_allowed();
}

WireFacts own_wire_facts(std::span<const std::int32_t> nodes, std::int32_t rank, bool wanted, bool fast) {
  WireFacts facts;
  if (!wanted) {
    facts.obstacle = WireFacts::Obstacle::asked;
  } else if (descriptors_wanted(nodes, rank, 1) > descriptors_allowed()) {
    facts.obstacle = WireFacts::Obstacle::descriptors;
  }
  facts.fast = fast;
  const std::string_view chosen = options().wire_interface;
  std::vector<InterfaceAddress> all = interface_addresses(chosen);
  for (const InterfaceAddress& one : all) {
    facts.addresses.push_back({.family = static_cast<std::uint32_t>(one.family), .bytes = one.bytes});
  }
  if (chosen.empty()) return facts;
  if (all.empty() && facts.obstacle == WireFacts::Obstacle::none) {
    const bool exists = if_nametoindex(std::string(chosen).c_str()) != 0;
    facts.obstacle = exists ? WireFacts::Obstacle::no_address : WireFacts::Obstacle::no_interface;
  }
  facts.listens_at = std::move(all);
  return facts;
}

}  // namespace urakata::job
