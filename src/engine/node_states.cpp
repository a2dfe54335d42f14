// SPDX-License-Identifier: BSD-3-Clause
#include "engine/node_states.hpp"

#include <algorithm>

namespace urakata::engine {

using schedule::Edge;
using schedule::EdgeKind;
using schedule::Node;
using schedule::NodeId;

NodeStates::NodeStates(const schedule::Schedule& schedule)
    : schedule_(schedule),
      states_(schedule.nodes().size()),
      messages_(schedule.nodes().size()),
      work_(schedule.nodes().size()) {}

void NodeStates::restart() {
  std::fill(states_.begin(), states_.end(), State{});
  messages_.clear();
  work_.clear();
  unfinished_ = static_cast<std::uint32_t>(states_.size());
  const auto sources = schedule_.sources();
  for (auto it = sources.rbegin(); it != sources.rend(); ++it) queue(*it);  // a stack: the first source goes first
}

bool NodeStates::ready(NodeId id) const {
  const Node& node = schedule_.nodes()[id];
  const State& state = states_[id];
  if (state.next == node.count || state.next - state.done >= node.window) return false;
  for (const Edge& edge : schedule_.into(id)) {
    const std::uint32_t done = states_[edge.from].done;
    if (edge.kind == EdgeKind::all ? done != schedule_.nodes()[edge.from].count
                                   : done + std::uint64_t{edge.distance} <= state.next) {
      return false;
    }
  }
  return true;
}

void NodeStates::queue(NodeId id) {
  if (states_[id].queued) return;
  states_[id].queued = true;
  (is_message(schedule_.nodes()[id]) ? messages_ : work_).push(id);
}

void NodeStates::finish(NodeId id, std::uint32_t iteration) {
  State& state = states_[id];
  if (iteration != state.done) {
    state.out_of_order |= std::uint64_t{1} << (iteration % schedule::kMaxWindow);
    return;
  }
  ++state.done;
  for (;;) {
    const std::uint64_t bit = std::uint64_t{1} << (state.done % schedule::kMaxWindow);
    if ((state.out_of_order & bit) == 0) break;
    state.out_of_order &= ~bit;
    ++state.done;
  }
  if (state.done == schedule_.nodes()[id].count) {
    --unfinished_;
  } else {
    queue(id);
  }
  for (const NodeId next_node : schedule_.successors(id)) {
    if (ready(next_node)) queue(next_node);
  }
}

}  // namespace urakata::engine
