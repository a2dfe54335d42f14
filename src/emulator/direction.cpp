// SPDX-License-Identifier: BSD-3-Clause
#include "emulator/direction.hpp"

#include <algorithm>
#include <utility>

namespace urakata::emulator {
namespace {

constexpr std::uint64_t kBitsTimesNs = 8'000'000'000;  // ns in a second, times bits in a byte

std::uint64_t transmission_ns(std::uint64_t bytes, std::uint64_t rate) { return bytes * kBitsTimesNs / rate; }

// Bytes that a server of this rate still has to send at `now`.
std::uint64_t backlog(std::uint64_t free_at, std::uint64_t now, std::uint64_t rate) {
  if (free_at <= now) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(free_at - now) * static_cast<double>(rate) /
                                    static_cast<double>(kBitsTimesNs));
}

// Segments of the packet that fit in `room` bytes.
std::uint32_t fitting(const Packet& packet, std::uint64_t room) {
  if (packet.wire_bytes() <= room) return packet.segments();
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(room / packet.segment_wire_bytes(), packet.segments() - 1));
}

// When the number of flows reaches a multiple of kManyFlows, flows without a packet for kIdle ns are removed.
constexpr std::size_t kManyFlows = 4096;
constexpr std::uint64_t kIdle = 60'000'000'000;

}  // namespace

void Direction::set(const Settings& settings) {
  const bool other_loss = settings.loss != settings_.loss;
  settings_ = settings;
  if (other_loss) loss_.set(settings.loss);
  for (auto& [key, flow] : flows_) apply_rules(key, flow);
}

void Direction::rule(const FlowRule& rule) {
  const auto same = std::find_if(rules_.begin(), rules_.end(), [&](auto& old) { return old.pattern == rule.pattern; });
  FlowRule merged = rule;
  if (same != rules_.end()) {
    if (!merged.rate) merged.rate = same->rate;
    if (!merged.cut) merged.cut = same->cut;
    rules_.erase(same);
  }
  rules_.push_back(merged);
  for (auto& [key, flow] : flows_) apply_rules(key, flow);
}

void Direction::apply_rules(const FlowKey& key, Flow& flow) const {
  flow.rate = settings_.flow_rate;
  flow.cut = false;
  for (const FlowRule& rule : rules_) {
    if (!rule.pattern.takes(key)) continue;
    flow.rate = rule.rate.value_or(flow.rate);
    flow.cut = rule.cut.value_or(flow.cut);
  }
}

Direction::Flow& Direction::flow_of(const FlowKey& key, std::uint64_t now) {
  const auto [place, is_new] = flows_.try_emplace(key);
  Flow& flow = place->second;
  flow.last_seen = now;
  if (is_new) {
    apply_rules(key, flow);
    if (flows_.size() % kManyFlows == 0) forget_idle(now);
  }
  return flow;
}

void Direction::forget_idle(std::uint64_t now) {
  std::erase_if(flows_,
                [&](auto& entry) { return entry.second.waiting.empty() && entry.second.last_seen + kIdle < now; });
}

void Direction::count_drop(Flow& flow, std::uint64_t segments) {
  counters_.dropped += segments;
  flow.counters.dropped += segments;
}

void Direction::offer(Packet packet, std::uint64_t now) {
  advance(now);
  Flow& flow = flow_of(packet.flow(), now);
  for (Counters* counters : {&counters_, &flow.counters}) {
    counters->offered += packet.segments();
    counters->offered_bytes += packet.wire_bytes();
    if (cut_ || flow.cut) counters->cut += packet.segments();
  }
  if (cut_ || flow.cut) return;

  std::uint64_t slowest = flow.rate;
  if (settings_.rate != 0 && (slowest == 0 || settings_.rate < slowest)) slowest = settings_.rate;
  std::uint32_t most = packet.segments();
  if (slowest != 0) {
    const std::uint64_t grain_bytes = slowest / 8 * kGrain / 1'000'000'000;
    most = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, grain_bytes / packet.segment_wire_bytes()));
  }
  if (most >= packet.segments()) return enter(flow, std::move(packet), now);
  for (std::uint32_t first = 0; first < packet.segments(); first += most) {
    enter(flow, packet.run(first, std::min(most, packet.segments() - first)), now);
  }
}

void Direction::enter(Flow& flow, Packet packet, std::uint64_t at) {
  if (flow.rate != 0 || !flow.waiting.empty()) return into_flow(flow, std::move(packet), at);
  into_link(flow, std::move(packet), at);
}

void Direction::into_flow(Flow& flow, Packet packet, std::uint64_t at) {
  const std::uint64_t room = settings_.flow_queue - std::min(settings_.flow_queue, flow.waiting_bytes);
  const std::uint32_t fits = fitting(packet, room);
  if (fits < packet.segments()) {
    count_drop(flow, packet.segments() - fits);
    if (fits == 0) return;
    packet = packet.run(0, fits);
  }
  flow.waiting_bytes += packet.wire_bytes();
  flow.waiting.emplace_back(at, std::move(packet));
  if (flow.waiting.size() == 1) schedule(flow);
}

void Direction::schedule(Flow& flow) {
  const auto& [arrived, packet] = flow.waiting.front();
  const std::uint64_t begin = std::max(flow.free_at, arrived);
  flow.free_at = flow.rate == 0 ? begin : begin + transmission_ns(packet.wire_bytes(), flow.rate);
  departures_.push({flow.free_at, turns_++, &flow});
}

void Direction::into_link(Flow& flow, Packet packet, std::uint64_t at) {
  if (settings_.rate != 0) {
    const std::uint64_t waiting = backlog(link_free_at_, at, settings_.rate);
    const std::uint32_t fits = fitting(packet, settings_.queue - std::min(settings_.queue, waiting));
    if (fits < packet.segments()) {
      count_drop(flow, packet.segments() - fits);
      if (fits == 0) return;
      packet = packet.run(0, fits);
    }
    link_free_at_ = std::max(link_free_at_, at) + transmission_ns(packet.wire_bytes(), settings_.rate);
  } else {
    link_free_at_ = std::max(link_free_at_, at);
  }

  const std::uint32_t segments = packet.segments();
  if (loss_.spares(segments)) {  // nearly always: nothing is copied
    loss_.pass(segments, [](std::uint32_t, std::uint32_t) {});
    return into_delay(flow, std::move(packet));
  }
  const std::uint64_t lost_before = loss_.lost();
  loss_.pass(segments, [&](std::uint32_t first, std::uint32_t count) { into_delay(flow, packet.run(first, count)); });
  counters_.lost += loss_.lost() - lost_before;
  flow.counters.lost += loss_.lost() - lost_before;
}

void Direction::into_delay(Flow& flow, Packet packet) {
  for (Counters* counters : {&counters_, &flow.counters}) {
    counters->delivered += packet.segments();
    counters->delivered_bytes += packet.wire_bytes();
  }
  // After the delay has been shortened, a packet still does not overtake an earlier one.
  std::uint64_t due = link_free_at_ + settings_.delay_ns;
  if (!delayed_.empty()) due = std::max(due, delayed_.back().due);
  delayed_.push_back({due, std::move(packet)});
}

void Direction::advance(std::uint64_t now) {
  while (!departures_.empty() && departures_.top().at <= now) {
    const auto [at, turn, flow] = departures_.top();
    departures_.pop();
    Packet packet = std::move(flow->waiting.front().second);
    flow->waiting.pop_front();
    flow->waiting_bytes -= packet.wire_bytes();
    into_link(*flow, std::move(packet), at);
    if (!flow->waiting.empty()) schedule(*flow);
  }
}

std::uint64_t Direction::next() const {
  const std::uint64_t departure = departures_.empty() ? kNever : departures_.top().at;
  return delayed_.empty() ? departure : std::min(departure, delayed_.front().due);
}

Delivery Direction::take() {
  Delivery first = std::move(delayed_.front());
  delayed_.pop_front();
  return first;
}

}  // namespace urakata::emulator
