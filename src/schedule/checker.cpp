// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/checker.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "schedule/checker_order.hpp"
#include "schedule/checker_results.hpp"
#include "schedule/checker_values.hpp"
#include "schedule/text.hpp"

namespace urakata::schedule {
namespace {

// The messages of one ordered pair on one channel.
struct Stream {
  const std::vector<Step>* sends = nullptr;
  const std::vector<Step>* recvs = nullptr;
  std::uint32_t from = 0, to = 0;
  std::size_t sends_started = 0, recvs_started = 0, met = 0;
};

class Checker {
 public:
  Checker(std::span<const Schedule> schedules, const Expectation& expectation)
      : schedules_(schedules), expectation_(expectation), terms_(expectation.commutative) {}

  Result<Proof> check() {
    for (auto part : {&Checker::shape, &Checker::orders, &Checker::bounds, &Checker::match, &Checker::run,
                      &Checker::results, &Checker::synchronised}) {
      if (Status status = (this->*part)(); !status) return status.error();
    }
    return std::move(proof_);
  }

 private:
  bool values() const { return !expectation_.ranks.empty(); }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(schedules_.size()); }

  Status shape() {
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      const Schedule& s = schedules_[r];
      if (s.rank() != r || s.ranks() != ranks()) {
        return Error{"schedule " + s.name() + ": found rank " + std::to_string(s.rank()) + " of " +
                     std::to_string(s.ranks()) + " where rank " + std::to_string(r) + " of " + std::to_string(ranks()) +
                     " was expected; all ranks' schedules are needed, in order"};
      }
      if (values() && expectation_.ranks[r].buffers.size() != s.user_buffers()) {
        return Error{"schedule " + s.name() + ", rank " + std::to_string(r) + ": has " +
                     std::to_string(s.user_buffers()) + " buffers of the caller instead of " +
                     std::to_string(expectation_.ranks[r].buffers.size())};
      }
    }
    return Nothing{};
  }

  Status orders() {
    for (const Schedule& schedule : schedules_) {
      auto order = Order::of(schedule);
      if (!order) return order.error();
      if (Status status = order->race_free(schedule, expectation_.element, expectation_.extent); !status) return status;
      proof_.iterations += order->steps().size();
      orders_.push_back(std::move(*order));
    }
    return Nothing{};
  }

  // [begin, end) of a temporary of `bytes` bytes of memory, in payload bytes.
  std::int64_t payload_room(std::uint64_t bytes) const {
    const auto [element, extent] = std::pair(expectation_.element, expectation_.extent);
    if (element == extent) return static_cast<std::int64_t>(bytes);
    return bytes < element ? 0 : static_cast<std::int64_t>(((bytes - element) / extent + 1) * element);
  }

  Status bounds() {
    for (const Schedule& schedule : schedules_) {
      for (const Step step : orders_[schedule.rank()].steps()) {
        for (const Access& access : touched(schedule, step)) {
          RankExpectation::Buffer buffer;
          if (access.buffer >= schedule.user_buffers()) {
            buffer.end = payload_room(schedule.temps()[access.buffer - schedule.user_buffers()]);
          } else if (values()) {
            buffer = expectation_.ranks[schedule.rank()].buffers[access.buffer];
          } else {
            continue;
          }
          if (access.begin < buffer.begin || access.end > buffer.end) {
            return wrong(schedule, step,
                         "reaches out of buffer " + std::to_string(access.buffer) + ": bytes " +
                             std::to_string(access.begin) + ".." + std::to_string(access.end) + " of " +
                             std::to_string(buffer.begin) + ".." + std::to_string(buffer.end));
          }
          if (access.write && !buffer.writable) {
            return wrong(schedule, step, "writes to buffer " + std::to_string(access.buffer) + ", the caller's input");
          }
        }
      }
    }
    return Nothing{};
  }

  std::vector<Access> touched(const Schedule& schedule, Step step) const {
    return *accesses(schedule, step, expectation_.element, expectation_.extent);  // was good when races were looked for
  }

  Status match() {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>, Stream> streams;
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      for (const auto& [key, steps] : orders_[r].sends()) {
        streams[{r, static_cast<std::uint32_t>(key.first), key.second}].sends = &steps;
      }
      for (const auto& [key, steps] : orders_[r].recvs()) {
        streams[{static_cast<std::uint32_t>(key.first), r, key.second}].recvs = &steps;
      }
    }
    static const std::vector<Step> kNone;
    for (std::uint32_t r = 0; r < ranks(); ++r) stream_of_.emplace_back(schedules_[r].nodes().size(), 0);
    for (auto& [key, stream] : streams) {
      std::tie(stream.from, stream.to, std::ignore) = key;
      if (stream.sends == nullptr) stream.sends = &kNone;
      if (stream.recvs == nullptr) stream.recvs = &kNone;
      if (Status status = sizes_meet(stream); !status) return status;
      for (const Step step : *stream.sends) stream_of_[stream.from][step.node] = streams_.size();
      for (const Step step : *stream.recvs) stream_of_[stream.to][step.node] = streams_.size();
      streams_.push_back(stream);
    }
    return Nothing{};
  }

  Status sizes_meet(const Stream& stream) const {
    const Schedule& from = schedules_[stream.from];
    const Schedule& to = schedules_[stream.to];
    const std::size_t both = std::min(stream.sends->size(), stream.recvs->size());
    for (std::size_t k = 0; k < both; ++k) {
      const Step send = (*stream.sends)[k];
      const Step recv = (*stream.recvs)[k];
      const std::uint64_t sent = payload(from.nodes()[send.node], send.iteration);
      const std::uint64_t wanted = payload(to.nodes()[recv.node], recv.iteration);
      if (sent != wanted) {
        return wrong(from, send,
                     "sends " + std::to_string(sent) + " bytes, but node " + std::to_string(recv.node) + " of rank " +
                         std::to_string(stream.to) + ", which it meets, expects " + std::to_string(wanted));
      }
    }
    if (stream.sends->size() > both) {
      return wrong(from, (*stream.sends)[both], "no receive of rank " + std::to_string(stream.to) + " meets it");
    }
    if (stream.recvs->size() > both) {
      return wrong(to, (*stream.recvs)[both], "no send of rank " + std::to_string(stream.from) + " meets it");
    }
    return Nothing{};
  }

  Status run() {
    for (const Schedule& schedule : schedules_) {
      progress_.emplace_back(schedule);
      ends_.emplace_back(orders_[schedule.rank()].steps().size());
      proof_.started.emplace_back(schedule.nodes().size());
      if (expectation_.synchronising) heard_.emplace_back(ends_.back().size(), std::vector<bool>(ranks()));
      if (!values()) continue;
      const std::size_t buffers = schedule.user_buffers() + schedule.temps().size();
      auto& contents = contents_.emplace_back();
      for (BufferId buffer = 0; buffer < buffers; ++buffer)
        contents.emplace_back(terms_.of({schedule.rank(), buffer, 0}));
    }
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      for (const NodeId source : schedules_[r].sources()) open_.push_back({r, source});
    }
    while (!open_.empty()) {
      const auto [r, node] = open_.front();
      open_.pop_front();
      while (progress_[r].ready(schedules_[r], node)) {
        if (Status status = start(r, node); !status) return status;
      }
    }
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      for (NodeId n = 0; n < schedules_[r].nodes().size(); ++n) {
        if (progress_[r].finished[n] < schedules_[r].nodes()[n].count) return deadlock();
      }
    }
    return Nothing{};
  }

  Error deadlock() const {
    std::string text;
    Step first;
    const Schedule* where = &schedules_.front();
    int shown = 0;
    for (std::uint32_t r = 0; r < ranks() && shown < 4; ++r) {
      for (NodeId n = 0; n < schedules_[r].nodes().size(); ++n) {
        const Step step{n, progress_[r].finished[n]};
        if (progress_[r].started[n] == step.iteration) continue;  // not begun, or all done: others hold it back
        if (shown == 0) {
          where = &schedules_[r];
          first = step;
        } else {
          text += "; rank " + std::to_string(r) + " hangs in node " + std::to_string(n) + " (" +
                  to_text(schedules_[r].nodes()[n]) + ")";
        }
        ++shown;
        break;
      }
    }
    return wrong(*where, first, "deadlock: it never meets its other side" + text);
  }

  Status start(std::uint32_t r, NodeId n) {
    const Node& node = schedules_[r].nodes()[n];
    const Step step{n, progress_[r].started[n]++};
    std::uint32_t level = step.iteration == 0 ? 0 : ends_[r][orders_[r].index(step) - 1].first;
    predecessors(schedules_[r], step, [&](Step before) { level = std::max(level, end_of(r, before).second); });
    end_of(r, step).first = level;
    if (step.iteration == 0) proof_.started[r][n] = level;
    if (expectation_.synchronising) hear_before(r, step);
    if (node.kind == Kind::copy || node.kind == Kind::reduce) {
      if (Status status = work(r, step); !status) return status;
      finish(r, step, level + 1);
      return Nothing{};
    }
    Stream& stream = streams_[stream_of_[r][n]];
    ++(node.kind == Kind::send ? stream.sends_started : stream.recvs_started);
    while (stream.met < std::min(stream.sends_started, stream.recvs_started)) meet(stream);
    return Nothing{};
  }

  Status work(std::uint32_t r, Step step) {
    if (!values()) return Nothing{};
    const auto list = touched(schedules_[r], step);
    if (list.empty()) return Nothing{};
    auto& target = contents_[r][list[1].buffer];
    std::vector<Run> left = contents_[r][list[0].buffer].read(list[0].begin, list[0].end);
    if (schedules_[r].nodes()[step.node].kind == Kind::reduce) {
      const std::vector<Run> right = target.read(list[1].begin, list[1].end);
      auto combined = combine(left, right);
      for (const Run& run : combined) {
        if (terms_.size(run.first) > ranks()) {
          return wrong(
              schedules_[r], step,
              "combines more contributions than there are ranks: " + terms_.describe(terms_.contributions(run.first)));
        }
      }
      left = std::move(combined);
    }
    target.write(list[1].begin, left);
    return Nothing{};
  }

  std::vector<Run> combine(const std::vector<Run>& left, const std::vector<Run>& right) {
    std::vector<Run> runs;
    std::size_t i = 0;
    std::size_t j = 0;
    std::uint64_t in_left = 0;  // bytes of left[i], right[j] already used
    std::uint64_t in_right = 0;
    while (i < left.size() && j < right.size()) {
      const std::uint64_t bytes = std::min(left[i].bytes - in_left, right[j].bytes - in_right);
      const Value a{left[i].first.expression, left[i].first.base + static_cast<std::int64_t>(in_left)};
      const Value b{right[j].first.expression, right[j].first.base + static_cast<std::int64_t>(in_right)};
      runs.push_back({bytes, terms_.combine(a, b)});
      if ((in_left += bytes) == left[i].bytes) ++i, in_left = 0;
      if ((in_right += bytes) == right[j].bytes) ++j, in_right = 0;
    }
    return runs;
  }

  void meet(Stream& stream) {
    const Step send = (*stream.sends)[stream.met];
    const Step recv = (*stream.recvs)[stream.met++];
    const Schedule& from = schedules_[stream.from];
    const Schedule& to = schedules_[stream.to];
    if (values()) {
      const auto source = touched(from, send);
      const auto target = touched(to, recv);
      if (!source.empty()) {
        contents_[stream.to][target[0].buffer].write(
            target[0].begin, contents_[stream.from][source[0].buffer].read(source[0].begin, source[0].end));
      }
    }
    if (expectation_.synchronising) merge(heard(stream.to, recv), heard(stream.from, send));
    proof_.messages.push_back({stream.from, stream.to, send.node, recv.node, send.iteration, recv.iteration,
                               payload(from.nodes()[send.node], send.iteration)});
    const std::uint32_t level = std::max(end_of(stream.from, send).first, end_of(stream.to, recv).first) + 1;
    finish(stream.from, send, level);
    finish(stream.to, recv, level);
  }

  void finish(std::uint32_t r, Step step, std::uint32_t level) {
    end_of(r, step).second = level;
    proof_.depth = std::max(proof_.depth, level);
    ++progress_[r].finished[step.node];
    open_.push_back({r, step.node});
    for (const NodeId next : schedules_[r].successors(step.node)) open_.push_back({r, next});
  }

  std::pair<std::uint32_t, std::uint32_t>& end_of(std::uint32_t r, Step step) {
    return ends_[r][orders_[r].index(step)];
  }
  std::vector<bool>& heard(std::uint32_t r, Step step) { return heard_[r][orders_[r].index(step)]; }

  static void merge(std::vector<bool>& into, const std::vector<bool>& from) {
    for (std::size_t i = 0; i < into.size(); ++i) {
      if (from[i]) into[i] = true;
    }
  }

  void hear_before(std::uint32_t r, Step step) {
    auto& mine = heard(r, step);
    mine[r] = true;
    predecessors(schedules_[r], step, [&](Step before) { merge(mine, heard(r, before)); });
  }

  Status results() { return values() ? check_results(schedules_, expectation_, terms_, contents_) : Status(Nothing{}); }

  Status synchronised() {
    for (std::uint32_t r = 0; expectation_.synchronising && r < ranks(); ++r) {
      std::vector<bool> all(ranks());
      all[r] = true;
      for (const auto& heard : heard_[r]) merge(all, heard);
      const auto missing = std::find(all.begin(), all.end(), false);
      if (missing != all.end()) {
        return Error{"schedule " + schedules_[r].name() + ", rank " + std::to_string(r) + ": can finish before rank " +
                     std::to_string(missing - all.begin()) + " has started"};
      }
    }
    return Nothing{};
  }

  std::span<const Schedule> schedules_;
  const Expectation& expectation_;
  Terms terms_;
  Proof proof_;
  std::vector<Order> orders_;
  std::vector<Stream> streams_;
  std::vector<std::vector<std::size_t>> stream_of_;  // [rank][node]
  std::vector<Progress> progress_;
  std::vector<std::vector<Contents>> contents_;                             // [rank][buffer]
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> ends_;  // [rank][step]: levels of start and end
  std::vector<std::vector<std::vector<bool>>> heard_;  // [rank][step]: ranks that had started by its end
  std::deque<std::pair<std::uint32_t, NodeId>> open_;
};

}  // namespace

Result<Proof> check(std::span<const Schedule> schedules, const Expectation& expectation) {
  return Checker(schedules, expectation).check();
}

}  // namespace urakata::schedule
