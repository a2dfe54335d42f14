// SPDX-License-Identifier: BSD-3-Clause
// Groups of ranks at several sites, and the proof of what is built for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "collectives/expectation.hpp"
#include "lanes/lanes.hpp"
#include "lanes/site_placement.hpp"
#include "schedule/checker.hpp"
#include "schedule/schedule.hpp"

namespace urakata::lanes {

using Sizes = std::vector<std::uint32_t>;  // ranks of each site

struct Where {
  std::vector<std::int32_t> sites, nodes;  // of each rank

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(sites.size()); }
  Placement placement() const { return {sites, nodes}; }
  std::string words() const {
    std::string text = "sites";
    for (const std::int32_t site : sites) text += " " + std::to_string(site);
    text += ", nodes";
    for (const std::int32_t node : nodes) text += " " + std::to_string(node);
    return text;
  }
};

enum class Order : std::uint8_t { blocks, turns, random };

// sizes[s] ranks at site s, `per_node` of them on a node.
inline Where make(const Sizes& sizes, std::uint32_t per_node, Order order, std::mt19937& random) {
  std::vector<std::pair<std::int32_t, std::int32_t>> all;  // site, its how-manieth rank
  for (std::size_t site = 0; site < sizes.size(); ++site) {
    for (std::uint32_t i = 0; i < sizes[site]; ++i) all.emplace_back(site, i);
  }
  if (order == Order::turns) std::ranges::stable_sort(all, {}, &std::pair<std::int32_t, std::int32_t>::second);
  if (order == Order::random) std::ranges::shuffle(all, random);
  Where where;
  for (const auto& [site, at] : all) {
    where.sites.push_back(site);
    where.nodes.push_back(site * 100 + at / static_cast<std::int32_t>(per_node));
  }
  return where;
}

// What a group calls, and the schedules of its ranks for that.
struct Call {
  Operation operation{};
  collectives::ArgumentsOfAll arguments;
  std::vector<schedule::Schedule> schedules;
};

// `build_one`: of a rank's arguments. The group must have a schedule for them.
template <class BuildOne>
Result<Call> call(Operation operation, const Arguments& common, bool uneven, BuildOne&& build_one) {
  Call made{.operation = operation, .arguments = {operation, common, uneven}, .schedules = {}};
  for (const Arguments& arguments : made.arguments.ranks()) {
    auto built = build_one(arguments);
    if (!built) return built.error();
    made.schedules.push_back(std::move(*built));
  }
  return made;
}

inline Result<schedule::Proof> prove(const Call& called) {
  return schedule::check(called.schedules, collectives::expectation(called.operation, called.arguments.ranks()));
}

}  // namespace urakata::lanes
