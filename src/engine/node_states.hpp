// SPDX-License-Identifier: BSD-3-Clause
// How far the nodes of a schedule have come in one instance, and which of them may go on.
//
// A node's iterations begin in order, at most as many at once as its window allows, and end in any order. Nodes that
// may have become ready are in one of two queues, each node at most once. Whoever takes a node from its queue begins
// what is ready(), and then either puts it off or tells by note_waits() that it is to be queued anew.
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
  // The schedule must outlive it.
  explicit NodeStates(const schedule::Schedule& schedule);
  void restart();  // no node has begun, and those without predecessors are queued

  ReadyQueue& messages() { return messages_; }  // sends and receives: these go first
  ReadyQueue& work() { return work_; }          // copies and reductions
  // The node, taken from its queue, can begin nothing more for now.
  void note_waits(schedule::NodeId id) { states_[id].queued = false; }

  // May the node's next iteration begin?
  bool ready(schedule::NodeId id) const;
  std::uint32_t next(schedule::NodeId id) const { return states_[id].next; }  // the iteration that begins next
  void begin_next(schedule::NodeId id) { ++states_[id].next; }
  // Queues what waited for this iteration.
  void finish(schedule::NodeId id, std::uint32_t iteration);
  // Has an iteration begun that has not finished?
  bool under_way(schedule::NodeId id) const { return states_[id].done < states_[id].next; }
  bool all_finished() const { return unfinished_ == 0; }

  // Nodes that wait to be looked at, and how many were looked at since this was made.
  std::size_t queued() const { return messages_.size() + work_.size(); }
  std::uint64_t looked_at() const { return messages_.pops() + work_.pops(); }

 private:
  struct State {
    std::uint32_t next = 0;          // iteration that is started next
    std::uint32_t done = 0;          // iterations finished, in order
    std::uint64_t out_of_order = 0;  // bit i % kMaxWindow: iteration i is finished, but an earlier one is not
    bool queued = false;             // it is in one of the queues, or taken from it and being started
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
