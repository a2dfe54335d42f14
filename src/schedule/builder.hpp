// SPDX-License-Identifier: BSD-3-Clause
// Builds a Schedule node by node. Not thread-safe; one builder, one schedule.
//
// Example: rank r of a chain hands 1 MiB on in 64 KiB chunks, 4 in flight.
//     Builder b("bcast/chain", ranks, r);
//     Chunks chunks = cut(1 << 20, 64 << 10);
//     NodeId in = b.recv(r - 1, {.buffer = kRecvBuffer}, chunks, {.window = 4});
//     NodeId out = b.send(r + 1, {.buffer = kRecvBuffer}, chunks, {.window = 4});
//     b.each(in, out);
//     Schedule s = *b.commit();
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "schedule/schedule.hpp"

namespace urakata::schedule {

// No progress step works on more than this at once: about 10 us of copying or adding, so that whoever lends its time to
// a reduction gets it back within 20 us.
inline constexpr std::uint64_t kSliceBytes = 32 * 1024;

// A payload cut into equal pieces of whole elements; the last may be shorter. count is at least 1, also for no bytes.
struct Chunks {
  std::uint32_t count = 1;
  std::uint64_t bytes = 0;
  std::uint64_t last_bytes = 0;
};
Chunks whole(std::uint64_t bytes);
// Pieces of at most `piece` bytes, rounded down to a multiple of `element` (but at least one element).
Chunks cut(std::uint64_t bytes, std::uint64_t piece, std::uint64_t element = 1);

struct Flow {
  std::uint32_t window = 1;  // iterations started and not finished, at most kMaxWindow
  std::uint8_t channel = 0;
};

class Builder {
 public:
  Builder(std::string name, std::uint32_t ranks, std::uint32_t rank, BufferId user_buffers = kUserBuffers);

  BufferId temp(std::uint64_t bytes);  // a new temporary buffer; more than kMaxBuffers in all fail in commit

  // A place whose stride is 0 while chunks.count > 1 gets the chunk's own size as stride (pieces lie one after
  // another).
  NodeId send(std::uint32_t peer, Place from, Chunks chunks, Flow flow = {});
  NodeId recv(std::uint32_t peer, Place to, Chunks chunks, Flow flow = {});
  NodeId copy(Place from, Place to, Chunks chunks);
  NodeId reduce(Place left, Place right_and_result, Chunks chunks);

  // The same for one contiguous piece of `bytes`. copy and reduce are cut into slices of kSliceBytes, of whole elements
  // of `element` bytes.
  NodeId send(std::uint32_t peer, Place from, std::uint64_t bytes, std::uint8_t channel = 0);
  NodeId recv(std::uint32_t peer, Place to, std::uint64_t bytes, std::uint8_t channel = 0);
  NodeId copy(Place from, Place to, std::uint64_t bytes, std::uint64_t element = 1);
  NodeId reduce(Place left, Place right_and_result, std::uint64_t bytes, std::uint64_t element);

  // Add an edge. after(): `to` waits for all iterations of `from`. each(): iteration i of `to` waits for iteration
  // i - `distance` of `from`, if there is one. kNone is ignored, so that "after the previous step, if there was one"
  // needs no test.
  static constexpr NodeId kNone = ~NodeId{0};
  void after(NodeId from, NodeId to);
  void each(NodeId from, NodeId to, std::uint32_t distance = 0);

  const Schedule& draft() const { return schedule_; }  // nodes and edges so far, in the order of their making

  // Sorts the edges, indexes them, and checks what one rank's schedule can be checked for alone: buffers, peers,
  // windows and edges in range, no cycle. The error names the node. The builder is spent afterwards.
  Result<Schedule> commit();

 private:
  NodeId add(Node node);
  Schedule schedule_;
};

}  // namespace urakata::schedule
