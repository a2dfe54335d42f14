// SPDX-License-Identifier: BSD-3-Clause
#include "lanes/inside.hpp"

#include <algorithm>
#include <bit>

namespace urakata::lanes {

namespace {

using collectives::Operation;

// Number of children of the root of a binomial tree over so many nodes. No node is more hops away from the root.
std::uint32_t children(std::uint32_t nodes) { return static_cast<std::uint32_t>(std::bit_width(nodes - 1)); }

// The part of a buffer that a leader's node sends when the buffer goes to all of its site. Each of `lanes` leaders
// sends its share to its children and forwards the shares of other leaders. Forwarding in the rest of each
// tree falls evenly on all nodes.
double handed_on(std::uint32_t nodes, std::uint32_t lanes) {
  if (nodes == 1) return 0;
  const double some = std::min(lanes, nodes), own = children(nodes);
  return (own + (some - 1) * (nodes - 1 - own) / (nodes - 1)) / some;
}

// What is needed of one of the two sites.
struct Here {
  double ranks;
  std::uint32_t nodes;
  double leaders;

  Here(const Placement& placement, Site site, std::uint32_t lanes)
      : ranks(static_cast<double>(placement.members(site).size())),
        nodes(placement.nodes(site)),
        leaders(std::clamp(lanes, 1U, nodes)) {}
  double others() const { return nodes - 1; }
};

// H of an allgather: all ranks of site `here` receive the blocks of both sites' ranks, of `bytes` bytes each.
double gathered(const Here& here, const Here& there, std::uint32_t lanes, double bytes) {
  const double own = bytes * here.ranks, come = bytes * there.ranks;
  const double crosses = own / here.leaders;
  const double sent = own * here.others() / here.nodes + come * handed_on(here.nodes, lanes) + crosses;
  return std::max(own + come - own / here.nodes, sent);
}

// H of an allreduce: each leader reduces its share inside the site, exchanges it with the other site, and sends the
// result to the nodes of its site.
double reduced(const Here& here, std::uint32_t lanes, double bytes) {
  const double share = 1 / here.leaders;
  const double received = here.others() * share + share + (1 - share);
  const double sent = (1 - share) + share + handed_on(here.nodes, lanes);
  return bytes * std::max(received, sent);
}

}  // namespace

Inside inside(Operation operation, const collectives::Arguments& arguments, const Placement& placement, Site one,
              Site other, std::uint32_t lanes) {
  const auto bytes = static_cast<double>(arguments.bytes);
  const Here home(placement, one, lanes), far(placement, other, lanes);
  // `elsewhere`: the part of the lanes whose leader is not the root.
  const double most = std::max(lanes, 1U), elsewhere = home.nodes == 1 ? 0 : (most - 1) / most;
  const std::uint32_t to_leaders = elsewhere > 0 ? 1 : 0, from_leaders = far.nodes > 1 ? 1 : 0;
  switch (operation) {
    case Operation::scatter:
    case Operation::gather: {
      const double served = bytes * home.ranks * home.others() / home.nodes;  // to or from the root's own site
      const double crosses = bytes * far.ranks;
      // Over any lane: what crosses leaves or enters the root's node, by way of a leader or directly.
      if (lanes == 0) return {.bytes = crosses + served};
      return {.bytes = std::max(crosses + served, crosses / far.leaders), .hops = to_leaders + from_leaders};
    }
    case Operation::bcast: {
      const double root = 1 + children(home.nodes) / most;
      return {.bytes = bytes * std::max(root, handed_on(far.nodes, lanes)), .hops = to_leaders + children(far.nodes)};
    }
    case Operation::reduce: {
      const double root = home.others() / home.leaders + elsewhere + 1 / most;
      return {.bytes = bytes * std::max(root, far.others() / far.leaders), .hops = to_leaders + from_leaders};
    }
    case Operation::allreduce:
      return {.bytes = std::max(reduced(home, lanes, bytes), reduced(far, lanes, bytes)),
              .hops = (home.nodes > 1 ? 1U : 0U) + children(std::max(home.nodes, far.nodes))};
    case Operation::allgather:
    case Operation::allgatherv:
      return {.bytes = std::max(gathered(home, far, lanes, bytes), gathered(far, home, lanes, bytes)),
              .hops = (home.nodes > 1 ? 1U : 0U) + children(std::max(home.nodes, far.nodes))};
    case Operation::barrier:
      return {.hops = 2 * children(std::max(home.nodes, far.nodes))};
    default:
      return {};
  }
}

}  // namespace urakata::lanes
