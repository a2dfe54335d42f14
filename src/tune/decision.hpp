// SPDX-License-Identifier: BSD-3-Clause
// The decision: which algorithm performs an operation if the user has not chosen one.
//
// The functions depend on nothing but their arguments, which are equal on all ranks. So all ranks choose alike without
// communication. Thread-safety: any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "collectives/collectives.hpp"
#include "tune/costs.hpp"

namespace urakata::tune {

// How the messages travel. node: inside one node. crowded: inside one node whose ranks outnumber its cores. native:
// also between nodes, through the MPI library. wire: also between nodes, by transport `wire`.
enum class Medium : std::uint8_t { node, crowded, native, wire };

// `crowded`: a node's ranks outnumber its cores. `by_wire`: all messages between nodes go by wire.
constexpr Medium medium_of(bool one_node, bool crowded, bool by_wire) {
  if (one_node) return crowded ? Medium::crowded : Medium::node;
  return by_wire ? Medium::wire : Medium::native;
}

struct Choice {
  std::string_view algorithm;
  std::uint64_t segment = 0;  // bytes; 0: the algorithm's own
  std::string_view why;       // a few words for the report
};

// Chooses the algorithm of an operation. bytes: as Arguments::bytes; for allgatherv and reduce_scatter the mean block;
// not used for gatherv, scatterv, alltoallv and neighbor_alltoallv, whose block sizes not all ranks know.
// ranks_per_node: as Group::ranks_per_node; these ranks share the node's link.
Choice choose(collectives::Operation operation, std::uint64_t bytes, std::uint32_t ranks, bool commutative,
              Medium medium, std::uint32_t ranks_per_node = 1, const Costs& costs = tune::costs());

// Whether a blocking neighbourhood collective is faster as a schedule than by the MPI library's own function: by wire
// only. Measured (bench/halo, Open MPI 5), relative to the MPI library's messages in the same job, between four hosts
// with 1 Gb/s links: halos of cubes of 2 to 8 cells take 0.81 to 0.90 as a schedule by wire with engine poll, and 0.94
// to 1.02 by the MPI library's function. From 32 cells on the links take the time, and there is no difference. Inside a
// node a schedule uses the MPI library's messages, too: 2 ranks of a space take 1.01 to 1.06 of the time of the MPI
// library's function at 16 and 64 cells, 0.92 to 0.95 at 32. 4 ranks on 2 cores show no gain beyond the noise.
bool blocking_pays(Medium medium);

// Whether a receiving rank copies a message itself as soon as it comes, so that blocks to be sent on have to wait
// (Arguments::in_turn).
bool receives_in_turn(Medium medium);

// Whether Urakata performs a reduction in which no rank may reduce for others (Algorithm::inputs_only). It needs a
// message for each pair of ranks and room for all inputs. If false, the operation falls back, on all ranks alike.
bool inputs_only_pays(std::uint64_t bytes, std::uint32_t ranks, const Costs& costs = tune::costs());

// Bytes of a segment for an algorithm that the user has chosen; 0: the algorithm's own.
std::uint64_t segment_of(Medium medium, const Costs& costs = tune::costs());

}  // namespace urakata::tune
