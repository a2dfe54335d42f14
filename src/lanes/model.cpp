#include "lanes/model.hpp"

#include <algorithm>
#include <cmath>

#include "lanes/lanes.hpp"

namespace urakata::lanes {

namespace {

using collectives::Arguments;
using collectives::Operation;

struct Crossing {
  double bytes = 0;  // over the busiest link
  double delays = 1;
  std::uint32_t ranks = 1;  // at the other end of it, of an operation without delegates
  bool direct = false;      // there is one
};

Crossing crossing(Operation operation, const Arguments& arguments, const Placement& placement) {
  std::size_t most = 1;
  const Site home = placement.site_of(arguments.root);
  const bool rooted = operation == Operation::scatter || operation == Operation::gather;
  for (Site site = 0; site < placement.sites(); ++site) {
    if (!rooted || site != home) most = std::max(most, placement.members(site).size());
  }
  const auto bytes = static_cast<double>(arguments.bytes);
  const double sites = placement.sites();
  switch (operation) {
    case Operation::scatter:
    case Operation::gather:
      return {.bytes = bytes * static_cast<double>(most), .ranks = static_cast<std::uint32_t>(most), .direct = true};
    case Operation::allgather:
    case Operation::allgatherv:
      return {.bytes = bytes * static_cast<double>(most)};
    case Operation::allreduce:
      if (placement.sites() > 2 && arguments.bytes > kOneDelay) return {.bytes = bytes * 2 / sites, .delays = 2};
      return {.bytes = bytes};
    default:
      return {.bytes = bytes};
  }
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
                        const LinkFacts& facts, std::uint32_t streams) {
  const Crossing what = crossing(operation, arguments, placement);
  const double inside = facts.inside > 0 ? facts.inside : kInside;
  const double segment = std::min<double>(static_cast<double>(kSegment), what.bytes);
  std::vector<Cost> all;
  for (std::uint32_t lanes = what.direct ? 0 : 1; lanes <= placement.most_lanes(); ++lanes) {
    double seconds = what.delays * facts.delay;
    if (lanes == 0) {
      const double straight = std::min({what.ranks * streams * facts.stream, facts.pair, facts.link});
      seconds += what.bytes / straight + kHop;
    } else {
      const double handed = what.bytes * (lanes - 1) / lanes;
      const double hops = lanes == 1 ? 1 : 2;
      seconds += std::max(what.bytes / rate(facts, lanes, streams), handed / inside);
      seconds += (hops + 1) * (segment / inside + kHop);
    }
    all.push_back({.lanes = lanes, .seconds = seconds});
  }
  return all;
}

}  // namespace urakata::lanes
