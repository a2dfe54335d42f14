// SPDX-License-Identifier: BSD-3-Clause
// A schedule: one rank's part of one collective, as an immutable graph of streams
// (docs/design/decisions/0008-schedules-are-data.md).
//
// Words. A *node* is an action that is done `count` times, once for most nodes; each time is an *iteration*. A *buffer*
// has a number here, and is bound to an address only when the schedule is started. An *edge* orders iterations of two
// nodes. So a pipeline of 10 000 chunks is a handful of nodes, and its memory is bounded by their windows.
//
// Iteration i of a node (0 <= i < count) moves `bytes` bytes, the last one `last_bytes`. It works at
//     a: buffer[a.buffer] + a.offset + (a.wrap ? i % a.wrap : i) * a.stride       (b alike)
// in bytes of memory. Offsets and strides are memory; `bytes` counts payload (size, not extent), so that a layout with
// holes can be bound to a buffer: a message of `bytes` then covers bytes / layout.size elements.
//
//   send    peer gets iteration i's payload at a
//   recv    iteration i's payload from peer lands at b
//   copy    payload at a to payload at b (packs or unpacks where one of the buffers has a layout)
//   reduce  b = a (op) b, a being the left operand: MPI's order for operations that do not commute
//
// Iterations of a node start in order; at most `window` of them are started and not finished. They count as finished in
// order too. Edge from -> to with kind
//   all    `to` starts its first iteration when every iteration of `from` is finished (distance is 0)
//   each   iteration i of `to` starts when iteration i - distance of `from` is finished (at once where i < distance)
// A schedule is finished when all iterations of all nodes are.
//
// Messages. For one ordered pair of ranks and one `channel`, the k-th message sent meets the k-th received. Nodes of
// one rank, direction, peer and channel must therefore be ordered by edges (the checker proves it). Messages of
// different channels never meet, so independent phases that talk to the same peer use different channels.
//
// Contract. A Schedule is position-independent, holds no pointer into itself that a copy would break, and is immutable
// after Builder::commit: any number of threads may read and run it at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace urakata::schedule {

enum class Kind : std::uint8_t { send, recv, copy, reduce };
enum class EdgeKind : std::uint8_t { all, each };

using NodeId = std::uint32_t;
using BufferId = std::uint32_t;

// Buffers 0 .. user_buffers-1 are the caller's, as many as the collective says; the temporaries follow. Nearly all have
// two:
inline constexpr BufferId kSendBuffer = 0;  // the caller's send buffer
inline constexpr BufferId kRecvBuffer = 1;  // the caller's receive buffer (or the only buffer: bcast, in place)
inline constexpr BufferId kUserBuffers = 2;
inline constexpr BufferId kMaxUserBuffers = 0xffff;
inline constexpr BufferId kMaxBuffers = 1U << 24;  // with the temporaries
inline constexpr std::uint32_t kMaxWindow = 64;
inline constexpr std::uint32_t kChannels = 256;

// Where one side of a node works, in bytes of memory (see the formula above).
struct Place {
  BufferId buffer = 0;
  std::uint32_t wrap = 0;
  std::int64_t offset = 0;
  std::int64_t stride = 0;
};

struct Node {
  Kind kind = Kind::copy;
  std::uint8_t channel = 0;
  std::uint32_t window = 1;
  std::int32_t peer = -1;  // group rank; -1 for copy and reduce
  std::uint32_t count = 1;
  std::uint64_t bytes = 0;
  std::uint64_t last_bytes = 0;
  Place a;  // source: send, copy; left operand: reduce
  Place b;  // destination: recv, copy; right operand and result: reduce
};

struct Edge {
  NodeId from = 0;
  NodeId to = 0;
  EdgeKind kind = EdgeKind::all;
  std::uint32_t distance = 0;

  bool operator==(const Edge&) const = default;
};

// Payload of iteration i of a node.
inline std::uint64_t payload(const Node& node, std::uint32_t i) {
  return i + 1 == node.count ? node.last_bytes : node.bytes;
}

// Memory offset of iteration i at a place, relative to its buffer.
inline std::int64_t offset_of(const Place& place, std::uint32_t i) {
  return place.offset + static_cast<std::int64_t>(place.wrap != 0 ? i % place.wrap : i) * place.stride;
}

class Schedule {
 public:
  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t rank() const { return rank_; }
  const std::string& name() const { return name_; }  // "allgather/ring", for reports and the text form
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Edge> edges() const { return edges_; }  // sorted by `to`, then `from`
  BufferId user_buffers() const { return user_buffers_; }
  std::span<const std::uint64_t> temps() const {
    return temps_;
  }  // bytes of buffers user_buffers(), user_buffers()+1, ...
  std::span<const NodeId> sources() const { return sources_; }  // nodes whose first iteration waits for nothing

  // Edges into a node, and the nodes to look at when one has finished an iteration. O(1).
  std::span<const Edge> into(NodeId node) const {
    return std::span(edges_).subspan(in_begin_[node], in_begin_[node + 1] - in_begin_[node]);
  }
  std::span<const NodeId> successors(NodeId node) const {
    return std::span(successors_).subspan(out_begin_[node], out_begin_[node + 1] - out_begin_[node]);
  }

 private:
  friend class Builder;
  std::uint32_t ranks_ = 1;
  std::uint32_t rank_ = 0;
  BufferId user_buffers_ = kUserBuffers;
  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<std::uint64_t> temps_;
  std::vector<NodeId> sources_;
  std::vector<std::uint32_t> in_begin_;
  std::vector<std::uint32_t> out_begin_;
  std::vector<NodeId> successors_;
};

}  // namespace urakata::schedule
