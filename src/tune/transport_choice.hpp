// SPDX-License-Identifier: BSD-3-Clause
// Which messages between nodes go by transport `wire`, and which through the MPI library.
//
// Everything here is a function of what all ranks know alike, so both sides of a pair come to the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/network.hpp"
#include "base/options/options.hpp"

namespace urakata::tune {

// What option TRANSPORT of a rank makes of what it finds.
struct TransportTerms {
  bool wire;    // it may talk by wire
  bool better;  // a network that the MPI library drives better than TCP goes first
};
constexpr TransportTerms transport_terms(TransportWish asked) {
  return {.wire = asked != TransportWish::native, .better = asked == TransportWish::automatic};
}

// Of a job. Two ranks of different nodes talk by wire if both can, their nodes reach each other, and they do not share
// a better network; else through the MPI library. Nodes at different sites share none, whatever each has within its
// own.
class TransportChoice {
 public:
  using Ranks = std::span<const std::int32_t>;  // of MPI_COMM_WORLD

  TransportChoice() = default;  // all through the MPI library
  // `sites`: of each rank; empty: all are at one.
  explicit TransportChoice(Network network, std::span<const std::int32_t> sites = {});

  const std::string& why() const { return why_; }          // one sentence: who talks by wire, or why nobody does
  const std::string& lacking() const { return lacking_; }  // the first rank that cannot, and why; empty: all can
  bool ranks_share_nodes() const { return network_.node.size() > network_.nodes; }
  bool any() const { return pairs_ != 0; }
  bool all() const { return all_; }  // all pairs of ranks on different nodes do
  // One line for all ranks, where the job asked for transport wire and has not got it for all; empty: it has.
  std::string warning(TransportWish asked) const;

  bool by_wire(std::int32_t one, std::int32_t other) const;
  bool at_one_site(std::int32_t one, std::int32_t other) const;
  // Of each rank: does this one talk to it by wire? Empty: nobody talks by wire.
  std::vector<bool> peers(std::int32_t rank) const;
  // Do all messages between these ranks that leave a node go by wire?
  bool covers(Ranks ranks) const;

 private:
  std::int32_t node_of(std::int32_t rank) const { return network_.node[static_cast<std::size_t>(rank)]; }

  Network network_;
  std::vector<std::int32_t> sites_;
  std::size_t pairs_ = 0;  // of nodes whose ranks talk by wire, those that can
  bool all_ = false;
  std::string why_;
  std::string lacking_;
};

}  // namespace urakata::tune
