// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/checker_order.hpp"

#include <algorithm>
#include <optional>

#include "schedule/checker.hpp"
#include "schedule/text.hpp"

namespace urakata::schedule {

Error wrong(const Schedule& schedule, Step step, const std::string& why) {
  const Node& node = schedule.nodes()[step.node];
  std::string text = "schedule " + schedule.name() + ", rank " + std::to_string(schedule.rank()) + ", node " +
                     std::to_string(step.node) + " (" + word(node.kind) + ")";
  if (node.count > 1) text += ", iteration " + std::to_string(step.iteration);
  return Error{text + ": " + why};
}

bool Progress::ready(const Schedule& schedule, NodeId node) const {
  const Step next{node, started[node]};
  if (next.iteration == schedule.nodes()[node].count) return false;
  bool all = true;
  predecessors(schedule, next, [&](Step before) { all = all && finished[before.node] > before.iteration; });
  return all;
}

Result<std::vector<Access>> accesses(const Schedule& schedule, Step step, std::uint64_t element, std::uint64_t extent) {
  const Node& node = schedule.nodes()[step.node];
  const std::uint64_t bytes = payload(node, step.iteration);
  std::vector<Access> list;
  if (bytes == 0) return list;
  const auto add = [&](const Place& place, bool write) {
    const std::int64_t offset = offset_of(place, step.iteration);
    if (element == extent) {
      list.push_back({place.buffer, offset, offset + static_cast<std::int64_t>(bytes), write});
      return true;
    }
    // Offsets are in memory, where elements are `extent` bytes apart; accesses are in payload bytes.
    const auto distance = static_cast<std::int64_t>(extent);
    if (offset % distance != 0 || bytes % element != 0) return false;
    const std::int64_t begin = offset / distance * static_cast<std::int64_t>(element);
    list.push_back({place.buffer, begin, begin + static_cast<std::int64_t>(bytes), write});
    return true;
  };
  const bool whole = (node.kind == Kind::recv || add(node.a, false)) && (node.kind == Kind::send || add(node.b, true));
  const auto cuts = [&](const Access& access) { return access.begin % static_cast<std::int64_t>(element) != 0; };
  if (!whole || (node.kind == Kind::reduce && (bytes % element != 0 || std::any_of(list.begin(), list.end(), cuts)))) {
    return wrong(schedule, step, "does not work on whole elements of " + std::to_string(element) + " bytes");
  }
  return list;
}

Order::Order(const Schedule& schedule) : nodes_(schedule.nodes().size()) {
  std::size_t steps = 0;
  for (const Node& node : schedule.nodes()) {
    first_.push_back(steps);
    steps += node.count;
  }
  steps_.reserve(steps);
  clocks_.assign(steps * nodes_, 0);
}

Result<Order> Order::of(const Schedule& schedule) {
  std::uint64_t iterations = 0;
  for (const Node& node : schedule.nodes()) iterations += node.count;
  if (iterations * schedule.nodes().size() > kMaxClockEntries) {
    return Error{"schedule " + schedule.name() + ", rank " + std::to_string(schedule.rank()) + ": " +
                 std::to_string(iterations) + " iterations of " + std::to_string(schedule.nodes().size()) +
                 " nodes are too many to prove; check it with fewer bytes"};
  }
  Order order(schedule);
  if (Status status = order.compute_clocks(schedule); !status) return status.error();
  if (Status status = order.collect_streams(schedule); !status) return status.error();
  return order;
}

Status Order::compute_clocks(const Schedule& schedule) {
  Progress progress(schedule);
  std::vector<NodeId> open;
  for (NodeId n = 0; n < nodes_; ++n) open.push_back(static_cast<NodeId>(nodes_ - 1 - n));
  while (!open.empty()) {
    const NodeId n = open.back();
    if (!progress.ready(schedule, n)) {
      open.pop_back();
      continue;
    }
    const Step step{n, progress.started[n]};
    std::uint32_t* clock = clocks_.data() + index(step) * nodes_;
    // Iterations of a node start in order: all that the one before had to wait for has finished here, too.
    if (step.iteration > 0) std::copy_n(clock - nodes_, nodes_, clock);
    predecessors(schedule, step, [&](Step earlier) {
      // When `step` starts, `earlier` has finished, and so has all that had finished when `earlier` started. Of an
      // iteration of the same node the latter has been copied above.
      const std::uint32_t* other = clocks_.data() + index(earlier) * nodes_;
      if (earlier.node != n) {
        for (std::size_t i = 0; i < nodes_; ++i) clock[i] = std::max(clock[i], other[i]);
      }
      clock[earlier.node] = std::max(clock[earlier.node], earlier.iteration + 1);
    });
    steps_.push_back(step);
    ++progress.started[n];
    ++progress.finished[n];
    for (const NodeId next : schedule.successors(n)) open.push_back(next);
  }
  for (NodeId n = 0; n < nodes_; ++n) {
    if (progress.finished[n] < schedule.nodes()[n].count) {
      return wrong(schedule, {n, progress.finished[n]}, "never starts: its edges make it wait for itself");
    }
  }
  return Nothing{};
}

Status Order::collect_streams(const Schedule& schedule) {
  for (const Step step : steps_) {
    const Node& node = schedule.nodes()[step.node];
    if (node.kind != Kind::send && node.kind != Kind::recv) continue;
    auto& stream = (node.kind == Kind::send ? sends_ : recvs_)[{node.peer, node.channel}];
    // Iterations of one node start in order without an edge.
    if (!stream.empty() && stream.back().node != step.node && !before(stream.back(), step)) {
      return wrong(schedule, step,
                   "no edge orders it after node " + std::to_string(stream.back().node) + ", which has the same peer " +
                       std::to_string(node.peer) + " and channel " + std::to_string(node.channel));
    }
    stream.push_back(step);
  }
  return Nothing{};
}

namespace {

// The step that last wrote a stretch of bytes, and the steps that have read it since.
struct Touched {
  std::int64_t end = 0;
  std::optional<Step> write;
  std::vector<Step> reads;
};

// Splits the map so that a stretch begins at `at` if one covers it.
void split(std::map<std::int64_t, Touched>& map, std::int64_t at) {
  auto above = map.upper_bound(at);
  if (above == map.begin()) return;
  auto& [begin, touched] = *std::prev(above);
  if (begin == at || touched.end <= at) return;
  Touched right = touched;
  touched.end = at;
  map.emplace_hint(above, at, std::move(right));
}

}  // namespace

Status Order::race_free(const Schedule& schedule, std::uint64_t element, std::uint64_t extent) const {
  std::map<BufferId, std::map<std::int64_t, Touched>> memory;
  for (const Step step : steps_) {
    const auto list = accesses(schedule, step, element, extent);
    if (!list) return list.error();
    if (list->size() == 2 && (*list)[0].buffer == (*list)[1].buffer && (*list)[0].begin < (*list)[1].end &&
        (*list)[1].begin < (*list)[0].end) {
      return wrong(schedule, step, "its source and its destination overlap");
    }
    for (const Access& access : *list) {
      auto& map = memory[access.buffer];
      split(map, access.begin);
      split(map, access.end);
      std::int64_t at = access.begin;
      for (auto it = map.lower_bound(at); at < access.end; ++it) {
        if (it == map.end() || it->first > at) {  // untouched so far
          const std::int64_t end = it == map.end() ? access.end : std::min(access.end, it->first);
          it = map.emplace_hint(it, at, Touched{.end = end, .write = {}, .reads = {}});
        }
        Touched& touched = it->second;
        const auto conflicts = [&](Step other) { return !before(other, step); };
        const Step* other = nullptr;
        if (touched.write && conflicts(*touched.write)) other = &*touched.write;
        if (access.write && other == nullptr) {
          const auto found = std::find_if(touched.reads.begin(), touched.reads.end(), conflicts);
          if (found != touched.reads.end()) other = &*found;
        }
        if (other != nullptr) {
          return wrong(schedule, step,
                       std::string(access.write ? "writes" : "reads") + " buffer " + std::to_string(access.buffer) +
                           " from byte " + std::to_string(at) + " on, and no edge orders it after node " +
                           std::to_string(other->node) + ", which touches it too");
        }
        if (access.write) {
          touched.write = step;
          touched.reads.clear();
        } else {
          std::erase_if(touched.reads, [&](Step earlier) { return before(earlier, step); });
          touched.reads.push_back(step);
        }
        at = touched.end;
      }
    }
  }
  return Nothing{};
}

}  // namespace urakata::schedule
