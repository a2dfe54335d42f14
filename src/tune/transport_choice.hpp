// SPDX-License-Identifier: BSD-3-Clause
// Which messages between nodes go by transport `wire`, and which through the MPI library.
//
// The choice depends only on facts that all ranks know alike, so both ranks of a pair come to the same. Thread-safety:
// constant after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/network.hpp"
#include "base/options/options.hpp"

namespace urakata::tune {

// What a rank's option TRANSPORT means.
struct TransportTerms {
  bool wire;    // whether the rank may use wire
  bool better;  // whether it prefers a network that the MPI library drives better than TCP
};
constexpr TransportTerms transport_terms(TransportWish asked) {
  return {.wire = asked != TransportWish::native, .better = asked == TransportWish::automatic};
}

// The choice for a job. Two ranks of different nodes use wire if both can, their nodes reach each other over TCP, and
// the nodes do not share a better network; otherwise the MPI library. Two nodes share one if both have one and are at
// the same site.
class TransportChoice {
 public:
  using Ranks = std::span<const std::int32_t>;  // of MPI_COMM_WORLD

  TransportChoice() = default;  // all through the MPI library
  // `sites`: of each rank; empty: all are at one.
  explicit TransportChoice(Network network, std::span<const std::int32_t> sites = {});

  const std::string& why() const { return why_; }          // one sentence: which nodes use wire, or why none does
  const std::string& lacking() const { return lacking_; }  // the first rank that cannot, and why; empty: all can
  bool ranks_share_nodes() const { return network_.node.size() > network_.nodes; }
  bool any() const { return pairs_ != 0; }  // whether a pair of nodes uses wire
  bool all() const { return all_; }         // whether all pairs of ranks on different nodes use wire
  // One line for all ranks if the job asked for transport wire and does not use it for all pairs; empty: none.
  std::string warning(TransportWish asked) const;

  bool by_wire(std::int32_t one, std::int32_t other) const;
  bool at_one_site(std::int32_t one, std::int32_t other) const;
  // For each rank, whether `rank` exchanges messages with it by wire. Empty: no rank uses wire.
  std::vector<bool> peers(std::int32_t rank) const;
  // Whether all messages between these ranks that leave a node go by wire.
  bool covers(Ranks ranks) const;

 private:
  std::int32_t node_of(std::int32_t rank) const { return network_.node[static_cast<std::size_t>(rank)]; }

  Network network_;
  std::vector<std::int32_t> sites_;
  std::size_t pairs_ = 0;  // number of pairs of nodes whose ranks use wire, if they can
  bool all_ = false;
  std::string why_;
  std::string lacking_;
};

}  // namespace urakata::tune
