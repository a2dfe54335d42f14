// SPDX-License-Identifier: BSD-3-Clause
// A model of one direction of a long link. A packet that is offered passes queues, rates, loss and delay.
//
//     offer -> the flow's queue and rate -> the link's queue and rate -> loss -> delay -> take
//
// A rate is a server that sends the packets of its queue in order. The model stores when the server will be free (a
// token bucket whose depth is one run of segments). Times follow from the times of offer(), not from when the caller
// calls advance(): a late caller only delivers late. A packet of many segments is split into runs. A run takes at most
// kGrain at the lowest rate on its way, or is one segment. So packets of other flows pass between the runs, and the
// first segments do not wait for the last. A full queue drops the segments at a packet's end that do not fit; loss
// drops single segments.
//
// Contract: all times are in nanoseconds of one clock. The times passed to offer() and advance() never decrease. take()
// returns packets in order of delivery. Not thread-safe.
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

// Numbers of segments, and of their bytes on the wire.
struct Counters {
  std::uint64_t offered = 0;
  std::uint64_t offered_bytes = 0;
  std::uint64_t delivered = 0;  // segments that have passed queues and loss; the delay may still hold them
  std::uint64_t delivered_bytes = 0;
  std::uint64_t dropped = 0;  // segments dropped by a full queue
  std::uint64_t lost = 0;     // segments dropped by random loss
  std::uint64_t cut = 0;      // segments dropped because the direction or the flow is cut
};

struct Delivery {
  std::uint64_t due = 0;
  Packet packet;
};

class Direction {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t kGrain = 1'000'000;  // ns: TCP itself sends about 1 ms worth of data in one packet

  struct Flow {
    std::uint64_t rate = 0;  // bits a second; 0: no limit
    bool cut = false;
    std::uint64_t free_at = 0;  // time at which the server has sent the first of `waiting`, or all if none waits
    std::uint64_t waiting_bytes = 0;
    std::uint64_t last_seen = 0;                           // time of the flow's last offer()
    std::deque<std::pair<std::uint64_t, Packet>> waiting;  // times of arrival and packets of the flow's queue
    Counters counters;
  };
  using Flows = std::unordered_map<FlowKey, Flow, FlowHash>;

  const Settings& settings() const { return settings_; }
  void set(const Settings& settings);
  void seed(std::uint64_t number) { loss_.seed(number); }
  // While the direction is cut, offer() drops every packet. Packets that were offered before still arrive.
  void cut(bool whether) { cut_ = whether; }
  bool is_cut() const { return cut_; }
  // Adds a rule as the last one. An earlier rule with the same pattern is removed; the new rule takes over its rate or
  // cut where the new one sets none.
  void rule(const FlowRule& rule);

  void offer(Packet packet, std::uint64_t now);
  // Advances the model to `now`: packets leave the queues of their flows and pass the link's queue, loss and delay.
  void advance(std::uint64_t now);
  // Time of the next event (a departure from a flow's queue, or a delivery) if no more is offered; kNever: none.
  std::uint64_t next() const;
  // Whether a packet is to be delivered by `now`.
  bool due(std::uint64_t now) const { return !delayed_.empty() && delayed_.front().due <= now; }
  // Removes and returns the next delivery. Only if due() is true.
  Delivery take();

  const Counters& counters() const { return counters_; }
  const Loss& loss() const { return loss_; }
  const Flows& flows() const { return flows_; }

 private:
  struct Departure {
    std::uint64_t at;
    std::uint64_t turn;  // order of scheduling: of departures at the same time the lower one is first
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
  std::priority_queue<Departure, std::vector<Departure>, std::greater<>> departures_;  // the first packet of each flow
  std::uint64_t turns_ = 0;
  std::uint64_t link_free_at_ = 0;
  std::deque<Delivery> delayed_;
  Loss loss_;
  Counters counters_;
};

}  // namespace urakata::emulator
