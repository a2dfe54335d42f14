// SPDX-License-Identifier: BSD-3-Clause
// One direction of a long link as a model in virtual time: what is offered comes out after queue, rate, loss and delay.
//
//     offer -> the flow's queue and rate -> the link's queue and rate -> loss -> delay -> take
//
// Rates are token buckets whose depth is one run of segments: a server of that rate that works through its queue in
// order and knows when it will be free. Times are computed from arrivals, never from when the caller came to look, so a
// caller that is late shifts deliveries, and nothing else. A packet of many segments goes as runs that take at most
// kGrain at the lowest rate on its way, so that others get between and its first segments do not wait for its last.
// Queues drop at their tail, and loss takes single segments; both take a packet apart.
//
// Contract. Times in nanoseconds of one clock; offer() and advance() with times that never go back. What comes out of
// take() is in order of delivery. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <queue>
#include <unordered_map>
#include <vector>

#include "emulator/link_settings.hpp"
#include "emulator/loss.hpp"
#include "emulator/packet.hpp"

namespace urakata::emulator {

// In segments, and for what was offered and delivered also in bytes on the wire.
struct Counters {
  std::uint64_t offered = 0;
  std::uint64_t offered_bytes = 0;
  std::uint64_t delivered = 0;
  std::uint64_t delivered_bytes = 0;
  std::uint64_t dropped = 0;  // by a full queue
  std::uint64_t lost = 0;     // by chance
  std::uint64_t cut = 0;      // because the link or the flow is cut
};

struct Delivery {
  std::uint64_t due = 0;
  Packet packet;
};

class Direction {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t kGrain = 1'000'000;  // 1 ms: about what TCP hands down at once by itself

  struct Flow {
    std::uint64_t rate = 0;
    bool cut = false;
    std::uint64_t free_at = 0;  // when its bucket has sent all that went before
    std::uint64_t waiting_bytes = 0;
    std::uint64_t last_seen = 0;
    std::deque<std::pair<std::uint64_t, Packet>> waiting;  // with the time of arrival
    Counters counters;
  };
  using Flows = std::unordered_map<FlowKey, Flow, FlowHash>;

  const Settings& settings() const { return settings_; }
  void set(const Settings& settings);
  void seed(std::uint64_t number) { loss_.seed(number); }
  // Nothing that is offered gets through; what is on its way arrives.
  void cut(bool whether) { cut_ = whether; }
  bool is_cut() const { return cut_; }
  // Replaces an earlier rule of the same pattern in what the new one says.
  void rule(const FlowRule& rule);

  void offer(Packet packet, std::uint64_t now);
  // Moves what has happened until `now` inside; take() gives it out.
  void advance(std::uint64_t now);
  // When something happens next, if nothing is offered.
  std::uint64_t next() const;
  bool due(std::uint64_t now) const { return !delayed_.empty() && delayed_.front().due <= now; }
  Delivery take();

  const Counters& counters() const { return counters_; }
  const Loss& loss() const { return loss_; }
  const Flows& flows() const { return flows_; }

 private:
  struct Departure {
    std::uint64_t at;
    std::uint64_t turn;  // of two at the same time, the one that was set first
    Flow* flow;
    bool operator>(const Departure& other) const { return at != other.at ? at > other.at : turn > other.turn; }
  };

  Flow& flow_of(const FlowKey& key, std::uint64_t now);
  void apply_rules(const FlowKey& key, Flow& flow) const;
  void forget_idle(std::uint64_t now);
  void schedule(Flow& flow);
  void enter(Flow& flow, Packet packet, std::uint64_t at);
  void into_flow(Flow& flow, Packet packet, std::uint64_t at);
  void into_link(Flow& flow, Packet packet, std::uint64_t at);
  void into_delay(Flow& flow, Packet packet);
  void count_drop(Flow& flow, std::uint64_t segments);

  Settings settings_;
  bool cut_ = false;
  std::vector<FlowRule> rules_;
  Flows flows_;
  std::priority_queue<Departure, std::vector<Departure>, std::greater<>> departures_;  // of each flow's first packet
  std::uint64_t turns_ = 0;
  std::uint64_t link_free_at_ = 0;
  std::deque<Delivery> delayed_;
  Loss loss_;
  Counters counters_;
};

}  // namespace urakata::emulator
