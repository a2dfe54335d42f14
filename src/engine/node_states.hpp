// SPDX-License-Identifier: BSD-3-Clause
// How far the nodes of a schedule have come in one instance, and which of them may go on.
//
// A node's iterations begin in order, at most as many at once as its window allows, and end in any order. Nodes that
// may have become ready are in one of two queues, each node at most once. The user takes a node from its queue and
// begins iterations while the node is ready(). Then the user puts the node off (ReadyQueue::put_off()) or calls
// note_waits().
//
// Thread-safety: by the domain's owner. Allocates nothing after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/ready_queue.hpp"
#include "schedule/schedule.hpp"

namespace urakata::engine {

class NodeStates {
 public:
  // The schedule must outlive this object.
  explicit NodeStates(const schedule::Schedule& schedule);
  void restart();  // before each start: no node has begun, and those without predecessors are queued

  ReadyQueue& messages() { return messages_; }  // sends and receives: these go first
  ReadyQueue& work() { return work_; }          // copies and reductions
  // The node, taken from its queue, can begin nothing more for now: finish() queues it again.
  void note_waits(schedule::NodeId id) { states_[id].queued = false; }

  // Whether the node's next iteration may begin.
  bool ready(schedule::NodeId id) const;
  std::uint32_t next(schedule::NodeId id) const { return states_[id].next; }  // the iteration that begins next
  void begin_next(schedule::NodeId id) { ++states_[id].next; }
  // The iteration has finished. Queues the nodes that may now go on, this one among them.
  void finish(schedule::NodeId id, std::uint32_t iteration);
  // Whether an iteration has begun and not finished.
  bool under_way(schedule::NodeId id) const { return states_[id].done < states_[id].next; }
  bool all_finished() const { return unfinished_ == 0; }

  // Nodes in the queues, and how many were taken from them since construction.
  std::size_t queued() const { return messages_.size() + work_.size(); }
  std::uint64_t looked_at() const { return messages_.pops() + work_.pops(); }

 private:
  struct State {
    std::uint32_t next = 0;          // iteration that is started next
    std::uint32_t done = 0;          // iterations finished, in order
    std::uint64_t out_of_order = 0;  // bit i % kMaxWindow: iteration i is finished, but an earlier one is not
    bool queued = false;             // whether the node is in a queue, or was taken from it and is being started
  };

  void queue(schedule::NodeId id);

  const schedule::Schedule& schedule_;
  std::vector<State> states_;
  ReadyQueue messages_;
  ReadyQueue work_;
  std::uint32_t unfinished_ = 0;  // nodes with iterations left
};

inline bool is_message(const schedule::Node& node) {
  return node.kind == schedule::Kind::send || node.kind == schedule::Kind::recv;
}

}  // namespace urakata::engine
