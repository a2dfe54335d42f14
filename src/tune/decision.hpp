// SPDX-License-Identifier: BSD-3-Clause
// The decision: which algorithm runs an operation, where the user does not say.
//
// Only facts that are equal on all ranks go in, so that all ranks come to the same choice without a word.
#pragma once

#include <cstdint>
#include <string_view>

#include "collectives/collectives.hpp"
#include "tune/costs.hpp"

namespace urakata::tune {

// How the messages travel: all inside one node, the same where its ranks outnumber their cores (crowded), or also
// between nodes, through the MPI library or by transport `wire`.
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

// bytes: as Arguments::bytes; for allgatherv and reduce_scatter the mean block; not used for gatherv, scatterv,
// alltoallv, whose blocks no rank knows all of. ranks_per_node: ranks that follow each other on one node, and share its
// link.
Choice choose(collectives::Operation operation, std::uint64_t bytes, std::uint32_t ranks, bool commutative,
              Medium medium, std::uint32_t ranks_per_node = 1, const Costs& costs = tune::costs());

// Is a blocking neighbourhood collective faster as a schedule than by the MPI library's own function? Measured
// (bench/halo, Open MPI 5): between four hosts with 1 Gb/s links, by wire with engine poll, halos of cubes of 2 to 8
// cells take 0.81 to 0.90 of what the MPI library's messages take in the same job, the MPI library's function 0.94 to
// 1.02; from 32 cells on the links are what takes time, and all take the same. Inside a node a schedule goes by the MPI
// library's messages, too: 2 ranks of a space take 1.01 to 1.06 of the MPI library's function at 16 and 64 cells, 0.92
// to 0.95 at 32, and 4 ranks on 2 cores gain nothing that could be told from job to job.
bool blocking_pays(Medium medium);

// Does a rank that receives copy the message itself, as soon as it comes, so that what it hands on has to wait?
bool receives_in_turn(Medium medium);

// Does a reduction in which no rank may reduce for others pay by messages for each pair of ranks, with room for all
// inputs? Else the MPI library has it, on all ranks alike.
bool inputs_only_pays(std::uint64_t bytes, std::uint32_t ranks, const Costs& costs = tune::costs());

// Of an algorithm that the user has chosen, in bytes; 0: the algorithm's own.
std::uint64_t segment_of(Medium medium, const Costs& costs = tune::costs());

}  // namespace urakata::tune
