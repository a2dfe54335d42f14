#include "lanes/model.hpp"

#include <algorithm>
#include <cmath>

#include "lanes/lanes.hpp"

namespace urakata::lanes {

namespace {

using collectives::Arguments;
using collectives::Operation;

struct Crossing {
  double bytes = 0;  // over the link, in the direction in which there are more
  double delays = 1;
  std::uint32_t ranks = 1;  // at the far end of it, of an operation without delegates
};

// Between two sites; of an operation with a root it is at `one`.
Crossing crossing(Operation operation, const Arguments& arguments, const Placement& placement, Site one, Site other) {
  const auto bytes = static_cast<double>(arguments.bytes);
  const std::size_t there = placement.members(other).size();
  switch (operation) {
    case Operation::scatter:
    case Operation::gather:
      return {.bytes = bytes * static_cast<double>(there), .ranks = static_cast<std::uint32_t>(there)};
    case Operation::allgather:
    case Operation::allgatherv:
      return {.bytes = bytes * static_cast<double>(std::max(there, placement.members(one).size()))};
    case Operation::allreduce:
      if (placement.sites() > 2 && arguments.bytes > kOneDelay) {
        return {.bytes = bytes * 2 / static_cast<double>(placement.sites()), .delays = 2};
      }
      return {.bytes = bytes};
    default:
      return {.bytes = bytes};
  }
}

// s, over one link; lanes 0: from each rank straight to the others.
double seconds_over(const Crossing& what, const Link& link, std::uint32_t lanes) {
  const LinkFacts& facts = link.facts;
  const double delays = what.delays * facts.delay;
  if (lanes == 0) {
    return delays + what.bytes / std::min({what.ranks * link.streams * facts.stream, facts.pair, facts.link}) + kHop;
  }
  const double inside = facts.inside > 0 ? facts.inside : kInside;
  const double segment = std::min<double>(static_cast<double>(kSegment), what.bytes);
  const double handed = what.bytes * (lanes - 1) / lanes;
  const double hops = lanes == 1 ? 1 : 2;
  return delays + std::max(what.bytes / rate(facts, lanes, link.streams), handed / inside) +
         (hops + 1) * (segment / inside + kHop);
}

}  // namespace

double rate(const LinkFacts& facts, std::uint32_t lanes, std::uint32_t streams) {
  const double count = std::max(lanes, 1U);
  return std::min({count * streams * facts.stream, count * facts.pair, facts.link});
}

std::uint32_t streams_for(const LinkFacts& facts, std::uint32_t lanes) {
  const double count = std::max(lanes, 1U);
  const double wanted = std::min(facts.link, count * facts.pair) / (count * std::max(facts.stream, 1.0));
  // A tenth more: measured rates scatter, and a connection that lost a packet is slow for a while.
  return static_cast<std::uint32_t>(std::clamp(std::ceil(wanted * 1.1 - 0.25), 1.0, 16.0));
}

std::uint32_t first_streams_for(const LinkFacts& facts, std::uint32_t lanes, std::uint32_t streams,
                                std::uint64_t first_flight) {
  // Three quarters: all of them come at once, and a router that has room for a round trip, as many have, must lose none.
  const double round_trip = 0.75 * 2 * facts.delay * facts.link;  // bytes
  const double wanted =
      round_trip / (std::max(lanes, 1U) * static_cast<double>(std::max<std::uint64_t>(first_flight, 1)));
  return static_cast<std::uint32_t>(
      std::clamp(std::ceil(wanted), static_cast<double>(streams), std::max(16.0, static_cast<double>(streams))));
}

std::vector<Cost> costs(Operation operation, const Arguments& arguments, const Placement& placement,
                        const Links& links) {
  struct Use {
    Crossing what;
    const Link* link;
  };
  std::vector<Use> uses;
  const Site home = placement.site_of(arguments.root);
  for (Site one = 0; one < placement.sites(); ++one) {
    for (Site other = 0; other < placement.sites(); ++other) {
      if (one == other || (collectives::is_rooted(operation) ? one != home : one > other)) continue;
      const Link* const link = links(placement.number(one), placement.number(other));
      if (link == nullptr) return {};
      uses.push_back({crossing(operation, arguments, placement, one, other), link});
    }
  }
  std::vector<Cost> all;
  const LaneRange range = lane_range(operation, placement);
  for (std::uint32_t lanes = range.least; lanes <= range.most; ++lanes) {
    Cost cost{.lanes = lanes};
    for (const Use& use : uses) {
      const double seconds = seconds_over(use.what, *use.link, lanes);
      if (seconds > cost.seconds) cost = {.lanes = lanes, .seconds = seconds, .streams = use.link->streams};
    }
    all.push_back(cost);
  }
  return all;
}

}  // namespace urakata::lanes
