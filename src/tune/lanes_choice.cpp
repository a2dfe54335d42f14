// SPDX-License-Identifier: BSD-3-Clause
#include "tune/lanes_choice.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "lanes/lanes.hpp"

namespace urakata::tune {

using collectives::Operation;

namespace {

// Error of the rates that are measured in MPI_Init: two nodes carried 334 to 390 Mb/s in jobs over the same link. If
// more lanes gain less than that, the gain is not certain, but the cost is: more is sent on inside the sites, by ranks
// that compute.
constexpr double kUnsure = 0.1;

std::string milliseconds(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g ms", seconds * 1e3);
  return text.data();
}

std::string words(const lanes::Cost& cost) {
  const std::string lanes =
      cost.lanes == 0 ? "straight" : std::to_string(cost.lanes) + (cost.lanes == 1 ? " lane" : " lanes");
  return lanes + " of " + std::to_string(cost.streams) + (cost.streams == 1 ? " connection " : " connections ") +
         milliseconds(cost.seconds);
}

}  // namespace

LanesChoice choose_lanes(Operation operation, const collectives::Arguments& arguments,
                         const lanes::Placement& placement, const lanes::Links& links, std::uint32_t asked) {
  const lanes::LaneRange range = lanes::lane_range(operation, placement);
  const std::uint32_t wish = std::min(asked, range.most);
  const auto all = lanes::costs(operation, arguments, placement, links);
  if (all.empty()) {
    return {wish != 0 ? wish : range.least == 0 ? 0 : range.most, "between sites, whose links were not measured"};
  }
  const double least = std::ranges::min(all, {}, &lanes::Cost::seconds).seconds;
  auto best = std::ranges::find_if(all, [&](const lanes::Cost& cost) { return cost.seconds <= least * (1 + kUnsure); });
  if (wish != 0) best = std::ranges::find(all, wish, &lanes::Cost::lanes);
  std::string why = (wish != 0 ? "asked for; predicted: " : "predicted: ") + words(*best);
  if (best != all.begin()) why += ", " + words(*(best - 1));
  if (best + 1 != all.end()) why += ", " + words(*(best + 1));
  for (const std::int32_t more : {-1, 1}) {
    if (const auto cost = lanes::cost_with(operation, arguments, placement, links, best->lanes, more)) {
      why += ", " + words(*cost);
    }
  }
  return {best->lanes, std::move(why)};
}

std::vector<Streams> choose_streams(Operation operation, const collectives::Arguments& arguments,
                                    const lanes::Placement& placement, const lanes::Links& links, std::uint32_t lanes,
                                    std::uint64_t first_flight) {
  const lanes::Site own = placement.site_of(arguments.rank);
  // In an operation with a root, all that crosses links is between the root's site and another one.
  const lanes::Site from = collectives::is_rooted(operation) ? placement.site_of(arguments.root) : own;
  std::vector<Streams> all;
  for (lanes::Site other = 0; other < placement.sites(); ++other) {
    const auto at = static_cast<std::size_t>(placement.number(other));
    all.resize(std::max(all.size(), at + 1));
    const LinkFacts* const facts = other == own ? nullptr : links(placement.number(own), placement.number(other));
    if (facts == nullptr) continue;
    const lanes::Way way = lanes::way_of(operation, placement, from, from == own ? other : own, lanes);
    all[at].most = lanes::streams_for(*facts, way);
    all[at].first = lanes::first_streams_for(*facts, way, all[at].most, first_flight);
  }
  return all;
}

std::string predicted_without_lanes(Operation operation, const collectives::Arguments& arguments,
                                    const lanes::Placement& placement, const lanes::Links& links) {
  const bool rooted = collectives::is_rooted(operation);
  if (rooted && arguments.rank != arguments.root) return "; only the root knows how much crosses";
  const auto cost = lanes::cost_without_lanes(operation, arguments, placement, links);
  if (!cost) return "; a link was not measured";
  std::string text = "; predicted: " + words(*cost);
  if (operation == Operation::alltoallv) text += ", if all ranks have as much for each other as this one";
  return text;
}

bool exchange_gains(const lanes::Placement& placement, const lanes::Links& links) {
  constexpr double kFull = 0.9;
  for (lanes::Site one = 0; one < placement.sites(); ++one) {
    for (lanes::Site other = one + 1; other < placement.sites(); ++other) {
      const LinkFacts* const link = links(placement.number(one), placement.number(other));
      if (link == nullptr) return true;
      const auto pairs = static_cast<double>(placement.members(one).size() * placement.members(other).size());
      if (pairs * link->stream < kFull * link->link) return true;
    }
  }
  return false;
}

std::string_view default_between_sites(Operation operation) {
  switch (operation) {
    case Operation::gatherv:
    case Operation::scatterv:
      return "linear";
    case Operation::alltoall:
    case Operation::alltoallv:
      return "spread";
    default:
      return "";
  }
}

}  // namespace urakata::tune
