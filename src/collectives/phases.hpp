// SPDX-License-Identifier: BSD-3-Clause
// Phases: what several algorithms are made of. Each adds its nodes to a plan and says which nodes its result waits for.
//
// Common rule: nodes given as `ready` must be finished before the piece that they go with is read, nodes given as
// `free` before it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectives/partition.hpp"
#include "collectives/plan.hpp"

namespace urakata::collectives {

// Distance 1, 2, 4 ... (radix 2) tree over virtual ranks: who has v's data, and whom v hands it to. children[i] stands
// for the virtual ranks [children[i], children[i] + span_i); the largest subtree comes first.
struct Tree {
  std::uint32_t parent = 0;  // of virtual rank 0: 0
  std::vector<std::uint32_t> children;
  std::vector<std::uint32_t> spans;  // virtual ranks below and with each child
  std::uint32_t span = 1;            // below and with this one
};
Tree tree_of(std::uint32_t virtual_rank, std::uint32_t ranks, std::uint32_t radix = 2);

// Everybody gets the root's piece along a tree. Returns the nodes after which this rank has it.
Nodes tree_bcast(Plan& plan, std::uint32_t radix, std::uint32_t root, Piece piece, const Nodes& ready_or_free,
                 std::uint32_t step);

// One peer's partial result on its way into ours. left: it belongs to lower ranks, so it is the left operand.
// answer: the peer gets our partial result (without its own) in exchange, and combines the two as we do.
struct Contribution {
  std::uint32_t peer = 0;
  bool left = false;
  bool answer = false;
};
// result = input with all contributions folded in, one after another, each next to what is there already. Every receive
// is posted at the start; the input is not written unless it is the result's own piece. Needs no copy where the first
// contribution is a right operand, or where the operation commutes and the contribution gets no answer.
Nodes accumulate(Plan& plan, Piece input, Piece result, std::span<const Contribution> contributions,
                 std::uint32_t step);

// The inputs of ranks below - 1, below - 2 ... 0 folded in from the left, each received straight from its rank. Every
// receive is posted at the start. Returns the nodes of the result.
Nodes fold_lower(Plan& plan, std::uint32_t below, Piece result, Nodes ready);

// The whole buffer reduced to `root` along a binomial tree, in rank order unless the operation commutes. On the root
// the result lands in `result`. Returns, on the root, the nodes of the result; elsewhere, those that read `input` last.
Nodes tree_reduce(Plan& plan, std::uint32_t root, Piece input, Piece result, std::uint32_t step);

// Blocks travel round the ring of (virtual) ranks, each rank handing to the right what it got from the left.
struct Ring {
  std::uint32_t ranks = 1;
  std::uint32_t left = 0;  // peers, as group ranks
  std::uint32_t right = 0;
  std::uint32_t step = 0;  // first step number; a phase uses ranks - 1 of them
};
// Blocks [own, own - 1, ...) mod ranks are sent, as many as `sends`; [own - 1, own - 2, ...) received, as many as
// `recvs`.
struct RingGather {
  std::uint32_t own = 0;
  std::uint32_t sends = 0;
  std::uint32_t recvs = 0;
  Piece own_piece;                            // where the own block is read
  std::function<Piece(std::uint32_t)> block;  // where each block belongs
  std::function<Nodes(std::uint32_t)> ready;  // of blocks that did not come by the ring
  std::function<Nodes(std::uint32_t)> free;   // before a block may be received
};
Nodes ring_gather(Plan& plan, const Ring& ring, const RingGather& gather);

// Partial results travel round: block `last` ends up here, reduced over all ranks. Every block passes in ring order, so
// the operation must commute. Where source and target are one piece, the target is reduced in place.
struct RingReduce {
  std::uint32_t last = 0;
  std::function<Piece(std::uint32_t)> source;  // this rank's input of a block
  std::function<Piece(std::uint32_t)> target;  // where its partial result is made
  std::uint32_t reuse = 0;                     // targets of steps so far apart share memory; 0: none do
};
struct RingReduced {
  Nodes ready;              // block `last` is finished
  std::vector<Nodes> sent;  // by block: the nodes that read its target last
  Nodes source_read;        // the nodes that read a source
};
RingReduced ring_reduce(Plan& plan, const Ring& ring, const RingReduce& reduce);

// Recursive halving among `active` = 2^k ranks: rank `index` ends up with part `index` of `parts`, reduced over all, at
// its place in the buffer `work`. Commutative operations only.
struct Halving {
  struct Step {
    std::uint32_t peer = 0;
    std::uint32_t keep_first = 0, keep_last = 0;  // parts kept, and given away, in this step
    std::uint32_t give_first = 0, give_last = 0;
    Nodes gave;  // the nodes that read the given half of `work`
  };
  std::vector<Step> steps;  // in order of time: the farthest peer first
  Nodes ready;
  Nodes source_read;  // the nodes that read `source`, where that is not `work`
};
// source: the buffer of the input, or `work` itself where that is already made (then `ready` are its nodes).
Halving halve(Plan& plan, const Partition& parts, std::uint32_t index,
              const std::function<std::uint32_t(std::uint32_t)>& rank_of, BufferId source, BufferId work,
              const Nodes& ready, std::uint32_t step, std::uint32_t active);

}  // namespace urakata::collectives
