// SPDX-License-Identifier: BSD-3-Clause
// The collectives: (arguments) -> schedule. One file per operation; nothing is run here.
//
// Every function builds the schedule of one rank. All ranks of the group call it with equal arguments, but for those
// marked "local" below. Buffers: kSendBuffer, kRecvBuffer as MPI's sendbuf and recvbuf (bcast: kRecvBuffer only).
// `in_place` is MPI_IN_PLACE as the standard defines it for the operation; kSendBuffer is then not used.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "schedule/schedule.hpp"

namespace urakata::collectives {

enum class Operation : std::uint8_t {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  neighbor_alltoallv,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  count_
};

// How one rank's blocks lie for the v- and w-forms: one entry per rank, in payload bytes and in bytes of memory.
struct Blocks {
  std::span<const std::uint64_t> bytes;         // payload bytes of each rank's block
  std::span<const std::int64_t> displacements;  // memory offset of each rank's block in its buffer
};

// The neighbours of a rank, on a communicator with a topology; the same rank may occur several times. Blocks from one
// rank to another meet in the order of the sender's `destinations`.
struct Neighbourhood {
  static constexpr std::uint32_t kNobody = ~0U;  // MPI_PROC_NULL: the block is left alone

  std::span<const std::uint32_t> destinations;
  std::span<const std::uint32_t> sources;
  // The indices of `sources` in the order in which blocks of equal sources meet. It differs from 0, 1, ... on Cartesian
  // topologies, where what is sent down arrives from above.
  std::span<const std::uint32_t> order;
};

struct Arguments {
  std::uint32_t ranks = 1;
  std::uint32_t rank = 0;
  std::uint32_t root = 0;
  bool in_place = false;  // local for gather, gatherv, scatter, scatterv, reduce (root only)

  // Payload: for bcast, reduce, allreduce, scan, exscan the whole buffer; for gather, scatter, allgather, alltoall and
  // reduce_scatter_block one rank's block.
  std::uint64_t bytes = 0;
  // One element: pieces are cut between elements. extent != element (holes) only occurs for reductions, with a
  // user-defined operation or a pair type: memory offset of element k is k * extent, and temporaries are sized by it.
  std::uint64_t element = 1;
  std::uint64_t extent = 1;
  bool commutative = true;

  // v-forms. allgatherv: recv (equal everywhere). reduce_scatter: recv.bytes (equal everywhere; displacements unused,
  // blocks lie one after another). gatherv: recv, local to the root; others have `bytes`. scatterv: send, local to the
  // root; others have `bytes`. alltoallv: send and recv, local.
  // neighbor_alltoallv: send and recv, local, with an entry for each neighbour.
  Blocks send = {};
  Blocks recv = {};
  // (alltoallw is alltoallv with displacements in bytes; types with holes are packed and unpacked around the schedule.)

  Neighbourhood neighbours = {};  // of neighbor_alltoallv, to which all neighbourhood collectives come down

  std::uint64_t segment = 0;  // chunk of pipelined algorithms in bytes; 0: the algorithm's own default
  // A receive copies its message as soon as that is there, and nothing else goes on meanwhile: rings post none ahead of
  // its turn. Each rank's own affair.
  bool in_turn = false;
};

// An algorithm of an operation. `build` fails with a sentence where the arguments do not suit it (never for the first
// algorithm of an operation, which suits everything).
struct Algorithm {
  std::string_view name;      // "ring"
  std::string_view sentence;  // what it is, with its source; shown by `urakata check --options`
  Result<schedule::Schedule> (*build)(const Arguments& arguments);
  bool commutative_only = false;
  // Ranks send nothing but their inputs, so no message waits for a reduction, where messages are not cut. There is one
  // such algorithm of every reduction.
  bool inputs_only = false;
};

std::string_view name(Operation operation);                                            // "allgather"
bool is_rooted(Operation operation);                                                   // has it a root?
Result<Operation> operation_named(std::string_view name);                              // error lists the valid names
std::span<const Algorithm> algorithms(Operation operation);                            // never empty
Result<const Algorithm*> algorithm_named(Operation operation, std::string_view name);  // error lists the valid names

}  // namespace urakata::collectives
