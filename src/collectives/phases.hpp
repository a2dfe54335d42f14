// SPDX-License-Identifier: BSD-3-Clause
// Phases: the parts that several algorithms are made of. Each function adds nodes of the schedule's graph to a plan,
// and returns the nodes that must be finished before its result is there.
//
// Common parameters: `ready` has the nodes that must be finished before the given piece is read, `free` those that must
// be finished before it is written. `ready_or_free`: `ready` on the root, `free` elsewhere. `step`: see Plan::send().
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectives/partition.hpp"
#include "collectives/plan.hpp"

namespace urakata::collectives {

// A tree over virtual ranks with distances 1, radix, radix^2 ...: the parent from which a virtual rank receives, and
// the children that it sends to. The subtree of child i has the virtual ranks [children[i], children[i] + spans[i]);
// the largest subtree comes first.
struct Tree {
  std::uint32_t parent = 0;  // of virtual rank 0: 0
  std::vector<std::uint32_t> children;
  std::vector<std::uint32_t> spans;  // virtual ranks in the subtree of each child, the child included
  std::uint32_t span = 1;            // virtual ranks in the subtree of this one, itself included
};
Tree tree_of(std::uint32_t virtual_rank, std::uint32_t ranks, std::uint32_t radix = 2);

// Sends the root's piece to all ranks along a tree. Returns the nodes after which this rank has the piece.
Nodes tree_bcast(Plan& plan, std::uint32_t radix, std::uint32_t root, Piece piece, const Nodes& ready_or_free,
                 std::uint32_t step);

// A peer's partial result that this rank combines with its own. left: it comes from lower ranks, so it is the left
// operand. answer: the peer gets this rank's earlier partial result, and combines the same two.
struct Contribution {
  std::uint32_t peer = 0;
  bool left = false;
  bool answer = false;
};
// result = input combined with all contributions, one after another. Each contribution is adjacent in rank order to
// what has been reduced before. Every receive is posted at the start. The input is not written unless it is the same
// piece as the result. No copy is needed if the first contribution is a right operand, or if the operation commutes and
// the first contribution gets no answer.
Nodes accumulate(Plan& plan, Piece input, Piece result, std::span<const Contribution> contributions,
                 std::uint32_t step);

// Folds the inputs of the ranks `below` - 1, `below` - 2, ..., 0 into the result, each as the left operand and received
// straight from its rank. Every receive is posted at the start. Returns the nodes of the result.
Nodes fold_lower(Plan& plan, std::uint32_t below, Piece result, Nodes ready);

// The whole buffer reduced to `root` along a binomial tree, in rank order unless the operation commutes. On the root
// the result lands in `result`. Returns, on the root, the nodes of the result; elsewhere, those that read `input` last.
Nodes tree_reduce(Plan& plan, std::uint32_t root, Piece input, Piece result, std::uint32_t step);

// A ring of (virtual) ranks: each sends to the right what it got from the left.
struct Ring {
  std::uint32_t ranks = 1;
  std::uint32_t left = 0;  // peers, as group ranks
  std::uint32_t right = 0;
  std::uint32_t step = 0;  // first step number; a phase uses ranks - 1 of them
};
// Sends the blocks own, own - 1, ... (mod ranks), `sends` of them, and receives own - 1, own - 2, ..., `recvs` of them.
struct RingGather {
  std::uint32_t own = 0;
  std::uint32_t sends = 0;
  std::uint32_t recvs = 0;
  Piece own_piece;                            // where the own block is read
  std::function<Piece(std::uint32_t)> block;  // where each block belongs
  std::function<Nodes(std::uint32_t)> ready;  // of blocks that this rank sends and has not received in this phase
  std::function<Nodes(std::uint32_t)> free;   // of blocks that are received
};
// Returns the nodes that receive.
Nodes ring_gather(Plan& plan, const Ring& ring, const RingGather& gather);

// Partial results travel round the ring: this rank ends up with block `last`, reduced over all ranks. Blocks are
// combined in ring order, so the operation must commute. If source and target are one piece, it is reduced in place.
struct RingReduce {
  std::uint32_t last = 0;
  std::function<Piece(std::uint32_t)> source;  // this rank's input of a block
  std::function<Piece(std::uint32_t)> target;  // where the block's partial result is made
  std::uint32_t reuse = 0;                     // targets of steps that are this far apart share memory; 0: none do
};
struct RingReduced {
  Nodes ready;              // block `last` is finished
  std::vector<Nodes> sent;  // by block: the nodes that read the block's target last
  Nodes source_read;        // the nodes that read a source
};
RingReduced ring_reduce(Plan& plan, const Ring& ring, const RingReduce& reduce);

// Recursive halving among `active` = 2^k ranks, numbered by an index: rank_of(index) is the group rank. This rank ends
// up with part `index` of `parts`, reduced over all these ranks, at its place in the buffer `work`. Commutative
// operations only.
struct Halving {
  struct Step {
    std::uint32_t peer = 0;
    std::uint32_t keep_first = 0, keep_last = 0;  // parts kept, and given away, in this step
    std::uint32_t give_first = 0, give_last = 0;
    Nodes gave;  // the nodes that read the given half of `work`
  };
  std::vector<Step> steps;  // in order of time: the farthest peer first
  Nodes ready;              // this rank's part is finished
  Nodes source_read;        // the nodes that read `source`, if that is not `work`
};
// source: the buffer of the input, or `work` itself if the input is there already, when `ready` is finished. Uses two
// step numbers for each halving, from `step` on.
Halving halve(Plan& plan, const Partition& parts, std::uint32_t index,
              const std::function<std::uint32_t(std::uint32_t)>& rank_of, BufferId source, BufferId work,
              const Nodes& ready, std::uint32_t step, std::uint32_t active);

}  // namespace urakata::collectives
