// SPDX-License-Identifier: BSD-3-Clause
#include "lanes/model.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "lanes/inside.hpp"
#include "lanes/lanes.hpp"

namespace urakata::lanes {

namespace {

using collectives::Arguments;
using collectives::Operation;

// What crosses a link in an operation.
struct Crossing {
  double bytes = 0;  // X: in the direction in which more bytes cross
  double delays = 1;
  Way way = {};
  Inside within = {};
};

// What crosses between two sites. The root of a rooted operation is at `one`.
Crossing crossing(Operation operation, const Arguments& arguments, const Placement& placement, Site one, Site other,
                  std::uint32_t lanes) {
  const auto bytes = static_cast<double>(arguments.bytes);
  const auto there = static_cast<double>(placement.members(other).size());
  Crossing what{.bytes = bytes,
                .way = way_of(operation, placement, one, other, lanes),
                .within = inside(operation, arguments, placement, one, other, lanes)};
  switch (operation) {
    case Operation::barrier:
      what.bytes = 0;
      break;
    case Operation::scatter:
    case Operation::gather:
      what.bytes = bytes * there;
      break;
    case Operation::allgather:
    case Operation::allgatherv:  // arguments.bytes: those of the mean block
      what.bytes = bytes * std::max(there, static_cast<double>(placement.members(one).size()));
      break;
    case Operation::allreduce:
      if (placement.sites() > 2 && arguments.bytes > kOneDelay) {
        what.bytes = bytes * 2 / static_cast<double>(placement.sites());
        what.delays = 2;
      }
      break;
    default:
      break;
  }
  return what;
}

double seconds_over(const Crossing& what, const LinkFacts& facts, std::uint32_t streams) {
  const double site = facts.inside > 0 ? facts.inside : kInside;
  const double segment = std::min<double>(static_cast<double>(kSegment), what.bytes / what.way.pairs);
  return what.delays * facts.delay + std::max(what.bytes / rate(facts, what.way, streams), what.within.bytes / site) +
         what.within.hops * segment / site + (what.within.hops + 1) * kHop +
         loss_wait(facts, what.bytes, what.way, streams);
}

// q. The measured rate of two nodes tells what nodes can carry only if it is less than what kMostStreams connections
// could carry. Otherwise q is taken to be no limit.
double node_rate(const LinkFacts& facts) {
  constexpr double kAll = 0.9;
  return facts.pair < kAll * kMostStreams * facts.stream ? facts.pair : facts.link;
}

// The part of what P lanes may carry that is enough for their connections. With one connection more than the link
// holds, all of them lose packets all the time. Connections with short windows then wait for timeouts: at 8 ms one way,
// 20 connections of 6.25 Mb/s over 100 Mb/s take 1.5 to 2 times as long as 16, also as plain sockets.
constexpr double kEnough = 0.9;
// As many connections as the link holds are not too many, though. The rates of one connection and of the link are
// measured apart, and each errs by a percent: 16 connections of 25 Mb/s over 400 Mb/s, measured as 24.0 and 382.7,
// carry 4 MiB in 0.87 of the time that 15 take.
constexpr double kHeld = 1.02;

struct Use {
  Site one, other;
  const LinkFacts* facts;
};
// The links that an operation crosses. Empty: there is none, or one of them is not known.
std::vector<Use> uses_of(Operation operation, const Placement& placement, std::uint32_t root, const Links& links) {
  std::vector<Use> uses;
  const Site home = placement.site_of(root);
  for (Site one = 0; one < placement.sites(); ++one) {
    for (Site other = 0; other < placement.sites(); ++other) {
      if (one == other || (collectives::is_rooted(operation) ? one != home : one > other)) continue;
      const LinkFacts* const facts = links(placement.number(one), placement.number(other));
      if (facts == nullptr) return {};
      uses.push_back({.one = one, .other = other, .facts = facts});
    }
  }
  return uses;
}

// As cost_with(), for the links in `uses`.
std::optional<Cost> cost_over(Operation operation, const Arguments& arguments, const Placement& placement,
                              std::span<const Use> uses, std::uint32_t lanes, std::int32_t more) {
  std::optional<Cost> cost;
  bool changed = more == 0;
  for (const Use& use : uses) {
    const Crossing what = crossing(operation, arguments, placement, use.one, use.other, lanes);
    const std::uint32_t enough = streams_for(*use.facts, what.way);
    const auto streams = static_cast<std::uint32_t>(
        std::clamp(static_cast<std::int32_t>(enough) + more, 1, static_cast<std::int32_t>(kMostStreams)));
    changed = changed || streams != enough;
    const double seconds = seconds_over(what, *use.facts, streams);
    if (!cost || seconds > cost->seconds) cost = {.lanes = lanes, .seconds = seconds, .streams = streams};
  }
  return changed ? cost : std::nullopt;
}

double sum_of(std::span<const std::uint64_t> bytes, std::span<const Rank> ranks) {
  double sum = 0;
  for (const Rank rank : ranks) sum += static_cast<double>(bytes[rank]);
  return sum;
}

}  // namespace

Way way_of(Operation operation, const Placement& placement, Site one, Site other, std::uint32_t lanes) {
  const auto here = static_cast<std::uint32_t>(placement.members(one).size());
  const auto there = static_cast<std::uint32_t>(placement.members(other).size());
  const std::uint32_t fewer = std::min(placement.nodes(one), placement.nodes(other));
  if (operation == Operation::alltoall || operation == Operation::alltoallv) {
    return {.pairs = here * there, .nodes = fewer};
  }
  return lanes == 0 ? Way{.pairs = there, .nodes = 1} : Way{.pairs = lanes, .nodes = std::min(lanes, fewer)};
}

double rate(const LinkFacts& facts, const Way& way, std::uint32_t streams) {
  const double pairs = way.pairs, nodes = way.nodes;
  return std::min({pairs * streams * facts.stream, nodes * node_rate(facts), facts.link});
}

double loss_wait(const LinkFacts& facts, double bytes, const Way& way, std::uint32_t streams) {
  if (facts.loss <= 0 || bytes <= 0) return 0;
  const double round_trip = 2 * facts.delay;
  const double packets = std::ceil(std::min(bytes, rate(facts, way, streams) * round_trip) / kPacket);
  const double connections = std::min(static_cast<double>(way.pairs) * streams, packets);
  const auto one_of = [&](double number) { return 1 - std::pow(1 - std::min(facts.loss, 1.0), number); };
  return round_trip * (one_of(packets) + one_of(connections));
}

std::uint32_t streams_for(const LinkFacts& facts, const Way& way) {
  const double pairs = way.pairs, nodes = way.nodes;
  const double wanted = std::min(facts.link, nodes * node_rate(facts)) / (pairs * std::max(facts.stream, 1.0));
  const double streams = std::max(std::ceil(kEnough * wanted), std::floor(kHeld * wanted));
  return static_cast<std::uint32_t>(std::clamp(streams, 1.0, static_cast<double>(kMostStreams)));
}

std::uint32_t first_streams_for(const LinkFacts& facts, const Way& way, std::uint32_t streams,
                                std::uint64_t first_flight) {
  // Three quarters of a round trip: all first flights come at once. Many routers have room for what fills the link for
  // one round trip, and must lose no packet.
  const double round_trip = 0.75 * 2 * facts.delay * facts.link;  // bytes
  const double wanted = round_trip / (way.pairs * static_cast<double>(std::max<std::uint64_t>(first_flight, 1)));
  return static_cast<std::uint32_t>(
      std::clamp(std::ceil(wanted), static_cast<double>(streams), std::max<double>(kMostStreams, streams)));
}

std::vector<Cost> costs(Operation operation, const Arguments& arguments, const Placement& placement,
                        const Links& links) {
  const std::vector<Use> uses = uses_of(operation, placement, arguments.root, links);
  std::vector<Cost> all;
  if (uses.empty()) return all;
  const LaneRange range = lane_range(operation, placement);
  for (std::uint32_t lanes = range.least; lanes <= range.most; ++lanes) {
    all.push_back(*cost_over(operation, arguments, placement, uses, lanes, 0));
  }
  return all;
}

std::optional<Cost> cost_with(Operation operation, const Arguments& arguments, const Placement& placement,
                              const Links& links, std::uint32_t lanes, std::int32_t more) {
  return cost_over(operation, arguments, placement, uses_of(operation, placement, arguments.root, links), lanes, more);
}

std::optional<Cost> cost_without_lanes(Operation operation, const Arguments& arguments, const Placement& placement,
                                       const Links& links) {
  const bool rooted = operation == Operation::scatterv || operation == Operation::gatherv;
  if (rooted && arguments.rank != arguments.root) return std::nullopt;
  const Site own = placement.site_of(arguments.rank);
  std::optional<Cost> cost;
  for (const Use& use : uses_of(operation, placement, arguments.root, links)) {
    const auto here = static_cast<double>(placement.members(use.one).size());
    const auto there = placement.members(use.other);
    Crossing what{.way = way_of(operation, placement, use.one, use.other, 0)};
    const std::uint32_t streams = streams_for(*use.facts, what.way);
    switch (operation) {
      case Operation::scatterv:
        what.bytes = sum_of(arguments.send.bytes, there);
        what.within.bytes = what.bytes + sum_of(arguments.send.bytes, placement.members(use.one));
        break;
      case Operation::gatherv:
        what.bytes = sum_of(arguments.recv.bytes, there);
        what.within.bytes = what.bytes + sum_of(arguments.recv.bytes, placement.members(use.one));
        break;
      case Operation::alltoall:
        what.bytes = static_cast<double>(arguments.bytes) * here * static_cast<double>(there.size());
        what.within.bytes = static_cast<double>(arguments.bytes) * (arguments.ranks - 1);
        break;
      case Operation::alltoallv: {
        if (use.one != own && use.other != own) continue;  // this rank knows no sizes for this link
        const auto far = placement.members(use.one == own ? use.other : use.one);
        const auto near = placement.members(own);
        what.bytes = std::max(sum_of(arguments.send.bytes, far), sum_of(arguments.recv.bytes, far)) *
                     static_cast<double>(near.size());
        what.within.bytes = std::max(sum_of(arguments.send.bytes, far) + sum_of(arguments.send.bytes, near),
                                     sum_of(arguments.recv.bytes, far) + sum_of(arguments.recv.bytes, near));
        break;
      }
      default:
        return std::nullopt;
    }
    const double seconds = seconds_over(what, *use.facts, streams);
    if (!cost || seconds > cost->seconds) cost = {.lanes = 0, .seconds = seconds, .streams = streams};
  }
  return cost;
}

}  // namespace urakata::lanes
