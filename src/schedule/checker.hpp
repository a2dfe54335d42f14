// SPDX-License-Identifier: BSD-3-Clause
// The checker: proves on symbols that the schedules of all ranks of a collective do what they must.
//
// What is proved:
//   order      every rank's graph runs to its end; nodes that send to (receive from) the same peer on the same channel
//              are ordered by that rank's edges, so that the k-th message means the same in every run;
//   races      any two accesses of a rank to the same byte, one of them a write, are ordered by that rank's edges;
//   messages   the k-th send of an ordered pair and channel meets a k-th receive of the same size, and none is left
//              over;
//   deadlock   with every send waiting for its receive, and windows as bounds, all nodes finish;
//   bounds     no node reaches out of a buffer, and none writes to a buffer that the caller must find unchanged;
//   values     every byte of every result holds the contributions that it must, each once, in rank order if need be;
//   same bits  ranks that get the same result have combined the same operands, each on the same side, in the same
//              order. MPI wants equal bits on all ranks, and few operations on floating-point numbers have operands
//              alike: MIN and MAX differ for NaN and for +0 with -0, a sum of two NaNs has the payload of one of them.
// Order and races are properties of the graph, not of one run; given both, every run computes the same values, so that
// one symbolic run proves them all. A symbol is "byte o of buffer b of rank r at the start"; a reduction makes
// expressions of symbols. Nothing depends on the element type, and little on the size: memory is kept as intervals.
//
// Cost: (iterations x nodes) of each rank for the order, memory and time; kMaxClockEntries bounds it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "schedule/schedule.hpp"

namespace urakata::schedule {

inline constexpr std::uint64_t kMaxClockEntries = std::uint64_t{1} << 28;

// A byte as it was before the start.
struct Origin {
  std::uint32_t rank = 0;
  BufferId buffer = 0;
  std::int64_t offset = 0;
};

// What one rank may touch and must find afterwards. Offsets in payload bytes (see Expectation::extent).
struct RankExpectation {
  struct Buffer {
    std::int64_t begin = 0;  // the bytes that are the caller's: [begin, end)
    std::int64_t end = 0;
    bool writable = true;
    bool keep_rest = false;  // bytes outside the results must be as before
  };
  struct Result {
    BufferId buffer = 0;
    std::int64_t offset = 0;
    std::uint64_t bytes = 0;
    std::vector<Origin> contributions;  // to the first byte; the following bytes have the following origins
  };
  std::vector<Buffer> buffers;  // one for each of the caller's
  std::vector<Result> results;
};

struct Expectation {
  std::vector<RankExpectation> ranks;  // empty: only order, races, messages, deadlock, and the bounds of temporaries
  bool commutative = true;             // contributions count as a multiset; otherwise in their order
  std::uint64_t element = 1;           // reductions work on whole elements of so many payload bytes,
  std::uint64_t extent = 1;            // whose k-th lies at memory offset k * extent
  bool synchronising = false;          // whether no rank may finish before every rank has started
};

// A send and the receive that it meets.
struct Matched {
  std::uint32_t from = 0, to = 0;  // ranks
  NodeId send = 0, recv = 0;       // their nodes
  std::uint32_t send_iteration = 0, recv_iteration = 0;
  std::uint64_t bytes = 0;
};
struct Proof {
  std::vector<Matched> messages;                    // in the order of the symbolic run
  std::vector<std::vector<std::uint32_t>> started;  // [rank][node]: unit steps before its first iteration could start
  std::uint64_t iterations = 0;
  std::uint32_t depth = 0;  // unit steps in all: a message or a piece of local work each
};

// schedules[r] is rank r's. The error names the first thing that is wrong, with rank and node. Thread-safe.
Result<Proof> check(std::span<const Schedule> schedules, const Expectation& expectation);

}  // namespace urakata::schedule
