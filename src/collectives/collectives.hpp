// SPDX-License-Identifier: BSD-3-Clause
// The collectives: (arguments) -> schedule. One file per operation; nothing is run here.
//
// Every function builds the schedule of one rank. All ranks of the group call it with equal arguments, but for those
// marked "local" below. Buffers: kSendBuffer, kRecvBuffer as MPI's sendbuf and recvbuf (bcast: kRecvBuffer only).
// `in_place` is MPI_IN_PLACE as the standard defines it for the operation. The buffer for which the standard lets the
// program pass it is then not used: kRecvBuffer for scatter and scatterv, else kSendBuffer.
//
// Thread-safety: all by any thread.
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

// How one rank's blocks lie for the v- and w-forms: one entry for each rank or neighbour.
struct Blocks {
  std::span<const std::uint64_t> bytes;         // payload bytes of each block
  std::span<const std::int64_t> displacements;  // offset of each block in its buffer, in bytes
};

// The neighbours of a rank, on a communicator with a topology; the same rank may occur several times. A rank sends its
// blocks for another rank in the order of `destinations`; that rank receives them in the order of `order`.
struct Neighbourhood {
  static constexpr std::uint32_t kNobody = ~0U;  // MPI_PROC_NULL: the block is neither sent nor written

  std::span<const std::uint32_t> destinations;
  std::span<const std::uint32_t> sources;
  // The indices of `sources` in the order in which receives are matched; empty: 0, 1, ... Another order is needed on
  // Cartesian topologies, where a block that is sent in the negative direction arrives from the positive neighbour.
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
  // Payload bytes of one element, and memory bytes from one element to the next. Pieces are cut between elements. The
  // two differ (holes) only for reductions with a user-defined operation or a pair type; temporaries are sized by
  // `extent`.
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
  // Whether the rank itself copies a message that arrives for a posted receive, and does nothing else meanwhile. Rings
  // then post only one receive at a time. May differ between ranks.
  bool in_turn = false;
};

// An algorithm of an operation. `build` fails with a sentence if the arguments do not suit the algorithm. The first
// algorithm of an operation suits all valid arguments.
struct Algorithm {
  std::string_view name;      // "ring"
  std::string_view sentence;  // what it is, with its source; shown by `urakata check --options`
  Result<schedule::Schedule> (*build)(const Arguments& arguments);
  bool commutative_only = false;
  // Whether ranks send nothing but their inputs. Then no message depends on a reduction, if messages are not cut. Each
  // reduction has such an algorithm.
  bool inputs_only = false;
};

std::string_view name(Operation operation);                                            // "allgather"
bool is_rooted(Operation operation);                                                   // whether it has a root
Result<Operation> operation_named(std::string_view name);                              // error lists the valid names
std::span<const Algorithm> algorithms(Operation operation);                            // never empty
Result<const Algorithm*> algorithm_named(Operation operation, std::string_view name);  // error lists the valid names

}  // namespace urakata::collectives
