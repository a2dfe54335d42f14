// SPDX-License-Identifier: BSD-3-Clause
#include "tune/transport_choice.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace urakata::tune {

namespace {

// For each node, whether it has a better network, as its first rank that can use wire says.
std::vector<bool> better_networks(const Network& network) {
  std::vector<bool> known(network.nodes);
  std::vector<bool> better(network.nodes);
  for (std::size_t rank = 0; rank < network.node.size(); ++rank) {
    const auto node = static_cast<std::size_t>(network.node[rank]);
    if (known[node] || !network.wire[rank]) continue;
    known[node] = true;
    better[node] = network.better[rank];
  }
  return better;
}

// Why no ranks of two nodes use wire; `one`, `other`: a rank of each node.
std::string why_apart(std::int32_t one, std::int32_t other, bool joined) {
  return "the nodes of ranks " + std::to_string(one) + " and " + std::to_string(other) +
         (joined ? " have a network that the MPI library drives better than TCP" : " do not reach each other over TCP");
}

}  // namespace

TransportChoice::TransportChoice(Network network, std::span<const std::int32_t> sites)
    : network_(std::move(network)), sites_(sites.begin(), sites.end()), why_(network_.nothing) {
  if (!why_.empty()) return;
  const std::size_t count = network_.nodes;
  const std::vector<bool> better = better_networks(network_);
  const std::vector<std::int32_t> first = first_ranks(network_);
  std::string apart;  // of the first pair
  for (std::size_t one = 0; one < count; ++one) {
    for (std::size_t other = one + 1; other < count; ++other) {
      const bool joined = network_.joined[one * count + other];
      const bool near = at_one_site(first[one], first[other]);
      if (joined && !(near && better[one] && better[other])) {
        ++pairs_;
      } else if (apart.empty()) {
        apart = why_apart(first[one], first[other], joined);
      }
    }
  }
  const std::size_t possible = count * (count - 1) / 2;
  const auto without = std::ranges::find(network_.wire, false);
  if (without != network_.wire.end()) {
    lacking_ =
        "rank " + std::to_string(without - network_.wire.begin()) + " has none: " + std::string(network_.obstacle);
  }
  all_ = pairs_ == possible && without == network_.wire.end();
  if (pairs_ == possible) {
    why_ = "TCP is the only network between the nodes";
  } else if (pairs_ != 0) {
    why_ = std::to_string(pairs_) + " of " + std::to_string(possible) + " pairs of nodes; " + apart;
  } else if (without == network_.wire.end()) {
    why_ = apart;
  } else {
    why_ = lacking_;
  }
}

std::string TransportChoice::warning(TransportWish asked) const {
  const bool wanted = asked == TransportWish::wire || (asked == TransportWish::automatic && network_.misnamed);
  if (all_ || !wanted) return "";
  return std::string(any() ? "not all by" : "no") + " transport wire: " + why_ + "; the MPI library carries all " +
         (any() ? "other " : "") + "messages";
}

bool TransportChoice::by_wire(std::int32_t one, std::int32_t other) const {
  if (!any()) return false;
  const auto a = static_cast<std::size_t>(one);
  const auto b = static_cast<std::size_t>(other);
  const auto at = static_cast<std::size_t>(node_of(one)) * network_.nodes + static_cast<std::size_t>(node_of(other));
  return node_of(one) != node_of(other) && network_.wire[a] && network_.wire[b] &&
         !(network_.better[a] && network_.better[b] && at_one_site(one, other)) && network_.joined[at];
}

bool TransportChoice::at_one_site(std::int32_t one, std::int32_t other) const {
  return sites_.empty() || sites_[static_cast<std::size_t>(one)] == sites_[static_cast<std::size_t>(other)];
}

std::vector<bool> TransportChoice::peers(std::int32_t rank) const {
  std::vector<bool> found;
  if (!any()) return found;
  for (std::size_t other = 0; other < network_.node.size(); ++other) {
    found.push_back(by_wire(rank, static_cast<std::int32_t>(other)));
  }
  return found;
}

bool TransportChoice::covers(Ranks ranks) const {
  if (!any()) return false;
  // Ranks of one node differ only in `wire` and `better`, so one rank stands for all of its kind.
  std::vector<bool> seen(4 * network_.nodes);
  std::vector<std::int32_t> kinds;
  for (const std::int32_t rank : ranks) {
    const auto at = static_cast<std::size_t>(rank);
    const std::size_t kind =
        4 * static_cast<std::size_t>(node_of(rank)) + (network_.wire[at] ? 2U : 0U) + (network_.better[at] ? 1U : 0U);
    if (!seen[kind]) kinds.push_back(rank);
    seen[kind] = true;
  }
  return std::ranges::all_of(kinds, [&](std::int32_t one) {
    return std::ranges::all_of(
        kinds, [&](std::int32_t other) { return node_of(one) == node_of(other) || by_wire(one, other); });
  });
}

}  // namespace urakata::tune
