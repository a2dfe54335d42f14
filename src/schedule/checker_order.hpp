// SPDX-License-Identifier: BSD-3-Clause
// What one rank's edges order: the checker's part that looks at one schedule alone.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "schedule/schedule.hpp"

namespace urakata::schedule {

// A step: one iteration of one node.
struct Step {
  NodeId node = 0;
  std::uint32_t iteration = 0;
};

// "schedule allgather/ring, rank 2, node 3 (send), iteration 1: why"
Error wrong(const Schedule& schedule, Step step, const std::string& why);

// How far a rank has come. A node's iterations start and finish in order, so two counts say it all.
struct Progress {
  explicit Progress(const Schedule& schedule) : started(schedule.nodes().size()), finished(schedule.nodes().size()) {}
  bool ready(const Schedule& schedule, NodeId node) const;  // whether the node has a next iteration and it may start
  std::vector<std::uint32_t> started, finished;
};

// Calls visit(before) for every step that must have finished before `step` starts, by an edge or a window.
template <class Visit>
void predecessors(const Schedule& schedule, Step step, Visit&& visit) {
  const Node& node = schedule.nodes()[step.node];
  if (step.iteration >= node.window) visit(Step{step.node, step.iteration - node.window});
  for (const Edge& edge : schedule.into(step.node)) {
    if (edge.kind == EdgeKind::all) {
      if (step.iteration == 0) visit(Step{edge.from, schedule.nodes()[edge.from].count - 1});
    } else if (step.iteration >= edge.distance) {
      visit(Step{edge.from, step.iteration - edge.distance});
    }
  }
}

// Bytes of one buffer that a step touches.
struct Access {
  BufferId buffer = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool write = false;
};

// Reading side first, in payload bytes; `element` and `extent` as in Expectation. Empty payloads touch nothing.
Result<std::vector<Access>> accesses(const Schedule& schedule, Step step, std::uint64_t element, std::uint64_t extent);

class Order {
 public:
  // (peer, channel) -> steps in the order in which they start.
  using Streams = std::map<std::pair<std::int32_t, std::uint8_t>, std::vector<Step>>;

  static Result<Order> of(const Schedule& schedule);

  std::span<const Step> steps() const { return steps_; }  // one order that the edges allow
  const Streams& sends() const { return sends_; }
  const Streams& recvs() const { return recvs_; }

  // Whether x has finished before y starts in every run.
  bool before(Step x, Step y) const { return clocks_[index(y) * nodes_ + x.node] > x.iteration; }
  std::size_t index(Step step) const { return first_[step.node] + step.iteration; }

  // Fails unless every conflicting pair of accesses is ordered.
  Status race_free(const Schedule& schedule, std::uint64_t element, std::uint64_t extent) const;

 private:
  explicit Order(const Schedule& schedule);
  Status compute_clocks(const Schedule& schedule);
  Status collect_streams(const Schedule& schedule);

  std::size_t nodes_;
  std::vector<std::size_t> first_;  // node -> index of its first step
  // A vector clock for each step. [step][node]: iterations of the node that have finished before the step starts.
  std::vector<std::uint32_t> clocks_;
  std::vector<Step> steps_;
  Streams sends_, recvs_;
};

}  // namespace urakata::schedule
