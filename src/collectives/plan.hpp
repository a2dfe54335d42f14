// SPDX-License-Identifier: BSD-3-Clause
// A plan: the collectives' interface to the schedule builder. It counts in payload bytes, cuts long pieces, and orders
// messages as a schedule needs it.
//
//   - Offsets and sizes are payload bytes; the plan turns them into memory (elements may have holes between them).
//   - A piece of no bytes makes no node: both ends know its size, so neither sends nor waits.
//   - Messages longer than the plan's segment become streams of segments; copies and reductions are cut the same way,
//     and further into slices of kSliceBytes. `each` then ties them chunk by chunk.
//   - Messages of one direction, peer and channel are ordered by edges as they are added (schedule.hpp, "Messages").
//
// Not thread-safe. One plan makes one schedule.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.hpp"
#include "collectives/collectives.hpp"
#include "schedule/builder.hpp"

namespace urakata::collectives {

using schedule::BufferId;
using schedule::kRecvBuffer;
using schedule::kSendBuffer;
using schedule::NodeId;

// The nodes of one message, copy or reduction: none for a piece of no bytes, several if chunks are cut into slices.
// All that one call of a Plan returns have the same number of iterations.
using Nodes = std::vector<NodeId>;

// Joins two sets of nodes.
Nodes operator+(Nodes left, const Nodes& right);

// `bytes` of payload at payload offset `offset` of a buffer. `wrap` > 0: the buffer is a ring of so many segments, in
// which segment i is at i mod wrap.
struct Piece {
  BufferId buffer = 0;
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t wrap = 0;

  bool operator==(const Piece&) const = default;
};

// The error of an algorithm that combines ranks out of order if the operation does not commute.
Error needs_commutativity(const char* name);

class Plan {
 public:
  // segment: messages longer than this are streams; 0: messages are never cut. Arguments::segment takes precedence if
  // it is not 0.
  Plan(const char* name, const Arguments& arguments, std::uint64_t segment = 0);

  const Arguments& arguments() const { return arguments_; }
  std::uint32_t ranks() const { return arguments_.ranks; }
  std::uint32_t rank() const { return arguments_.rank; }
  bool commutative() const { return arguments_.commutative; }

  // The buffer that holds this rank's input: the send buffer, or in place the receive buffer.
  BufferId input() const { return arguments_.in_place ? kRecvBuffer : kSendBuffer; }

  Piece temp(std::uint64_t bytes);  // a new temporary of its own
  // A temporary to receive `bytes` in and use chunk by chunk: a ring of kWindow segments if that is shorter. recycle()
  // ties the receive to the user of the chunks.
  Piece inbox(std::uint64_t bytes);

  // Messages of different steps never match (steps count modulo 256). Between two ranks, messages of one step match in
  // the order in which they were added.
  Nodes send(std::uint32_t peer, Piece from, std::uint32_t step = 0);
  Nodes recv(std::uint32_t peer, Piece to, std::uint32_t step = 0);
  Nodes copy(Piece from, Piece to);       // nothing if both are the same piece
  Nodes reduce(Piece left, Piece right);  // right = left (op) right

  void after(const Nodes& from, const Nodes& to);  // `to` starts when `from` is finished
  // Chunk i of `to` starts when chunk i of `from` is finished, if both have equally many chunks; else after().
  void each(const Nodes& from, const Nodes& to);
  // Receives a chunk into a segment of `inbox` only when `user` is finished with the segment's previous chunk.
  void recycle(const Piece& inbox, const Nodes& user, const Nodes& recv);

  schedule::Builder& builder() { return builder_; }
  Result<schedule::Schedule> commit() { return builder_.commit(); }

  static constexpr std::uint32_t kWindow = 8;  // chunks of one stream under way

 private:
  schedule::Chunks message(std::uint64_t bytes) const;
  schedule::Place place(const Piece& piece, std::uint64_t chunk) const;
  template <class Add>
  Nodes work(const Piece& from, const Piece& to, Add add);
  Nodes ordered(NodeId node, schedule::Kind kind, std::uint32_t peer, std::uint32_t step);
  std::int64_t memory(std::int64_t bytes) const;

  Arguments arguments_;
  std::uint64_t segment_;
  schedule::Builder builder_;
  std::map<std::tuple<schedule::Kind, std::uint32_t, std::uint32_t>, NodeId> last_;  // latest, by kind, peer, channel
};

}  // namespace urakata::collectives
