// SPDX-License-Identifier: BSD-3-Clause
#include "chain/compile.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace urakata::chain {

using schedule::BufferId;
using schedule::Edge;
using schedule::EdgeKind;
using schedule::Kind;
using schedule::Node;
using schedule::NodeId;
using schedule::Schedule;

namespace {

constexpr std::uint64_t kMostBytes = 1UL << 30;  // of one entry; a request moves less than 2 GiB

bool is_message(const Node& node) { return node.kind == Kind::send || node.kind == Kind::recv; }

std::uint64_t pieces_of(std::uint64_t bytes) {
  return std::max<std::uint64_t>((bytes + kMostBytes - 1) / kMostBytes, 1);
}

Error cannot(const Schedule& schedule, const std::string& why) {
  return Error{schedule.name() + " cannot be chained: " + why};
}

// For each node: whether it waits for a message (`after`), and whether a message waits for it (`before`).
struct Around {
  std::vector<bool> after, before;
};

Around around(const Schedule& schedule) {
  const auto nodes = schedule.nodes();
  Around place{std::vector<bool>(nodes.size()), std::vector<bool>(nodes.size())};
  for (bool changed = true; changed;) {
    changed = false;
    for (const Edge& edge : schedule.edges()) {
      const bool after = is_message(nodes[edge.from]) || place.after[edge.from];
      const bool before = is_message(nodes[edge.to]) || place.before[edge.to];
      if (after && !place.after[edge.to]) changed = place.after[edge.to] = true;
      if (before && !place.before[edge.from]) changed = place.before[edge.from] = true;
    }
  }
  return place;
}

Status check_nodes(const Schedule& schedule, const Around& place) {
  for (NodeId id = 0; id < schedule.nodes().size(); ++id) {
    const Node& node = schedule.nodes()[id];
    if (node.kind == Kind::reduce) return cannot(schedule, "it reduces (node " + std::to_string(id) + ")");
    if (node.kind == Kind::copy && place.after[id] && place.before[id]) {
      return cannot(schedule, "node " + std::to_string(id) + " copies between two messages");
    }
  }
  return Nothing{};
}

struct Step {
  NodeId node = 0;
  std::uint32_t iteration = 0;
};

class Compiler {
 public:
  Compiler(const Schedule& schedule, const Style& style)
      : schedule_(schedule), style_(style), place_(around(schedule)), done_(schedule.nodes().size()) {}

  Result<ChainedSchedule> run() {
    if (const Status good = check_nodes(schedule_, place_); !good.ok()) return good.error();
    copies(false);
    sort_streams();
    if (const Status good = put_in_order(); !good.ok()) return good.error();
    one_chain() ? emit_one() : emit_streams();
    copies(true);
    return std::move(chained_);
  }

 private:
  // All messages to one peer, or all messages from one peer.
  struct Stream {
    std::uint32_t peer = 0;
    bool sends = false;
    std::vector<Step> steps = {};  // in the order in which they travel
    std::size_t next = 0;          // the first step that put_in_order() has not placed
    std::uint64_t bytes = 0;
  };

  const Node& node(NodeId id) const { return schedule_.nodes()[id]; }

  // Whether the node's next iteration may begin once all iterations counted in done_ have ended.
  bool ready(NodeId id) const {
    const std::uint32_t next = done_[id];
    if (next == node(id).count) return false;
    return std::ranges::all_of(schedule_.into(id), [&](const Edge& edge) {
      const std::uint32_t done = done_[edge.from];
      return edge.kind == EdgeKind::all ? done == node(edge.from).count
                                        : next < edge.distance || done > next - edge.distance;
    });
  }

  void copies(bool after) {
    std::vector<Copy>& to = after ? chained_.after : chained_.before;
    std::fill(done_.begin(), done_.end(), 0);
    const auto chosen = [&](NodeId id) { return node(id).kind == Kind::copy && place_.after[id] == after; };
    if (after) {
      for (NodeId id = 0; id < done_.size(); ++id) {
        if (!chosen(id)) done_[id] = node(id).count;
      }
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (NodeId id = 0; id < done_.size(); ++id) {
        for (; chosen(id) && ready(id); ++done_[id], moved = true) {
          const Node& one = node(id);
          const std::uint32_t i = done_[id];
          if (payload(one, i) == 0) continue;
          to.push_back({one.a.buffer, one.b.buffer, offset_of(one.a, i), offset_of(one.b, i), payload(one, i)});
        }
      }
    }
  }

  // Goes through the messages once, each as early as possible, to learn the order within each channel.
  void sort_streams() {
    const std::vector<std::uint32_t> copied = done_;
    std::map<std::pair<std::pair<std::int32_t, bool>, std::uint8_t>, std::vector<Step>> channels;
    for (bool moved = true; moved;) {
      moved = false;
      for (NodeId id = 0; id < done_.size(); ++id) {
        if (!is_message(node(id))) continue;
        for (; ready(id); ++done_[id], moved = true) {
          channels[{{node(id).peer, node(id).kind == Kind::send}, node(id).channel}].push_back({id, done_[id]});
        }
      }
    }
    stream_of_.resize(done_.size());
    for (const auto& [key, steps] : channels) {
      const auto peer = static_cast<std::uint32_t>(key.first.first);
      const bool sends = key.first.second;
      if (streams_.empty() || streams_.back().peer != peer || streams_.back().sends != sends) {
        streams_.push_back({.peer = peer, .sends = sends});
        if (chained_.peers.empty() || chained_.peers.back() != peer) chained_.peers.push_back(peer);
      }
      Stream& stream = streams_.back();
      for (const Step& step : steps) {
        stream_of_[step.node] = streams_.size() - 1;
        stream.steps.push_back(step);
        stream.bytes += payload(node(step.node), step.iteration);
        chained_.bytes += payload(node(step.node), step.iteration);
      }
    }
    done_ = copied;
  }

  // Finds an order that edges and streams allow, with sends as early as possible.
  Status put_in_order() {
    std::size_t left = 0;
    for (const Stream& stream : streams_) left += stream.steps.size();
    order_.reserve(left);
    const auto next = [&](Kind kind) -> std::optional<NodeId> {
      for (NodeId id = 0; id < done_.size(); ++id) {
        if (node(id).kind != kind || !ready(id)) continue;
        const Stream& stream = streams_[stream_of_[id]];
        if (stream.steps[stream.next].node == id) return id;
      }
      return std::nullopt;
    };
    for (; left != 0; --left) {
      std::optional<NodeId> id = next(Kind::send);
      if (!id) id = next(Kind::recv);
      if (!id) return cannot(schedule_, "its channels do not follow each other as its messages do");
      order_.push_back({*id, done_[*id]++});
      ++streams_[stream_of_[*id]].next;
    }
    return Nothing{};
  }

  bool one_chain() const {
    return style_.downhill ||
           std::ranges::all_of(streams_, [&](const Stream& stream) { return stream.bytes <= style_.short_bytes; });
  }

  void emit(const Step& step) {
    const Node& one = node(step.node);
    const auto peer = static_cast<std::uint32_t>(one.peer);
    const auto at = std::ranges::lower_bound(chained_.peers, peer) - chained_.peers.begin();
    const bool sends = one.kind == Kind::send;
    const schedule::Place& where = sends ? one.a : one.b;
    Entry entry{.act = sends ? Act::send : Act::receive,
                .continues = true,
                .index = static_cast<std::uint16_t>(at),
                .buffer = where.buffer,
                .offset = offset_of(where, step.iteration)};
    std::uint64_t left = payload(one, step.iteration);
    if (left == 0) {
      entry.buffer = kToken;
      entry.offset = 0;
      left = 1;
    }
    while (left != 0) {
      entry.bytes = static_cast<std::uint32_t>(std::min(left, kMostBytes));
      chained_.entries.push_back(entry);
      entry.offset += entry.bytes;
      left -= entry.bytes;
    }
  }

  void emit_gate(Act act, std::uint16_t gate) {
    chained_.entries.push_back({.act = act, .continues = true, .index = gate, .bytes = sizeof(std::uint64_t)});
  }

  void end_chain() {
    chained_.entries.back().continues = false;
    ++chained_.chains;
  }

  void emit_one() {
    for (const Step& step : order_) emit(step);
    if (!order_.empty()) end_chain();
  }

  // The messages that the step waits for by its edges; for each edge the last one.
  std::vector<Step> waits_for(const Step& step) const {
    std::vector<Step> found;
    for (const Edge& edge : schedule_.into(step.node)) {
      if (!is_message(node(edge.from))) continue;
      if (edge.kind == EdgeKind::all) {
        found.push_back({edge.from, node(edge.from).count - 1});
      } else if (step.iteration >= edge.distance) {
        found.push_back({edge.from, step.iteration - edge.distance});
      }
    }
    return found;
  }

  // Emits a chain for each stream. `known` has, for each step and each chain, how many steps of the chain have ended
  // when the step has. So a gate stands only where nothing else implies the edge, and waits at a gate come in the order
  // of its signals.
  void emit_streams() {
    const std::size_t chains = streams_.size();
    std::vector<std::size_t> first(schedule_.nodes().size() + 1);
    for (NodeId id = 0; id < schedule_.nodes().size(); ++id) first[id + 1] = first[id] + node(id).count;
    std::vector<std::uint32_t> position(first.back()), index(first.back());  // of a step: in order_, and in its chain
    std::vector<std::uint32_t> known(order_.size() * chains);
    std::vector<std::uint32_t> latest(chains), length(chains);  // of a chain: its last step's position; its steps
    std::vector<std::vector<std::uint16_t>> waits(order_.size()), signals(order_.size());
    std::map<std::pair<std::size_t, std::size_t>, std::uint16_t> gates;
    const auto number = [&](const Step& step) { return first[step.node] + step.iteration; };
    const auto learn = [&](std::size_t at, std::size_t from) {
      for (std::size_t c = 0; c < chains; ++c) {
        known[at * chains + c] = std::max(known[at * chains + c], known[from * chains + c]);
      }
    };
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const Step& step = order_[at];
      const std::size_t chain = stream_of_[step.node];
      if (length[chain] != 0) learn(at, latest[chain]);
      std::vector<Step> before = waits_for(step);
      std::ranges::sort(before, std::greater{}, [&](const Step& one) { return position[number(one)]; });
      for (const Step& one : before) {
        const std::size_t other = stream_of_[one.node];
        if (known[at * chains + other] > index[number(one)]) continue;
        const auto gate = gates.try_emplace({other, chain}, static_cast<std::uint16_t>(gates.size())).first->second;
        signals[position[number(one)]].push_back(gate);
        waits[at].push_back(gate);
        learn(at, position[number(one)]);
      }
      position[number(step)] = static_cast<std::uint32_t>(at);
      index[number(step)] = length[chain]++;
      known[at * chains + chain] = length[chain];
      latest[chain] = static_cast<std::uint32_t>(at);
    }
    chained_.gates = static_cast<std::uint32_t>(gates.size());
    // Chains of sends come first: what can leave at once leaves during the submission.
    for (const bool sends : {true, false}) {
      for (const Stream& stream : streams_) {
        if (stream.sends != sends) continue;
        for (const Step& step : stream.steps) {
          const std::size_t at = position[number(step)];
          for (const std::uint16_t gate : waits[at]) emit_gate(Act::wait, gate);
          emit(step);
          for (const std::uint16_t gate : signals[at]) emit_gate(Act::signal, gate);
        }
        end_chain();
      }
    }
  }

  const Schedule& schedule_;
  const Style style_;
  const Around place_;
  std::vector<std::uint32_t> done_;  // by node: number of iterations placed
  std::vector<Stream> streams_;      // by peer
  std::vector<std::size_t> stream_of_;
  std::vector<Step> order_;
  ChainedSchedule chained_;
};

}  // namespace

Result<std::uint64_t> most_entries(const Schedule& schedule) {
  if (const Status good = check_nodes(schedule, around(schedule)); !good.ok()) return good.error();
  std::uint64_t entries = 0;
  for (const Node& node : schedule.nodes()) {
    if (is_message(node)) entries += node.count * pieces_of(std::max(node.bytes, node.last_bytes));
  }
  for (const Edge& edge : schedule.edges()) {
    const Node& from = schedule.nodes()[edge.from];
    const Node& to = schedule.nodes()[edge.to];
    if (!is_message(from) || !is_message(to) || (from.peer == to.peer && from.kind == to.kind)) continue;
    entries += 2UL * (edge.kind == EdgeKind::all ? 1 : std::min(from.count, to.count));
  }
  if (entries > kMostEntries) {
    return cannot(schedule, "it may take " + std::to_string(entries) + " entries, and the kernel is given at most " +
                                std::to_string(kMostEntries));
  }
  return entries;
}

Result<ChainedSchedule> compile(const Schedule& schedule, const Style& style) {
  if (const auto most = most_entries(schedule); !most.ok()) return most.error();
  return Compiler(schedule, style).run();
}

}  // namespace urakata::chain
