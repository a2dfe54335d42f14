// SPDX-License-Identifier: BSD-3-Clause
// The link's payload to ranks at the same site, where several connections carry it.
#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "transport/link/wire_link.hpp"
#include "transport/wire/tcp_facts.hpp"

namespace urakata::transport {

namespace {

constexpr std::uint32_t kOpen = 2;                // payloads that stripes have at a time, of one peer's
constexpr std::uint64_t kNoted = 5'000'000;       // ns between two samples of what was carried: each asks the kernel
constexpr std::uint64_t kLeastBusy = 10'000;      // us; the kernel counts these by its ticks, of up to 4000
constexpr std::uint64_t kMaking = 3'000'000'000;  // ns for connections that are tried
constexpr std::uint64_t kForeign = 20;            // of so many bytes one may have gone another way

}  // namespace

// --- out -------------------------------------------------------------------------------------------------------------

// How the first payload that is leaving goes on. `spread`: it has been given to stripes.
WireLink::Dispatch WireLink::dispatch(LinkPeer to, Peer& other) {
  const Leaving first = other.leaving.front();
  Spread& spread = other.spread;
  if (!stripes_ || stripes_->carries(to)) return Dispatch::plain;
  if (first.bytes < kLeastSpread || first.source.shape != nullptr) {
    if (first.at == 0) spread.short_bytes += first.bytes;
    return Dispatch::plain;
  }
  note_carried(to, other);
  if (first.at != 0) return Dispatch::plain;
  // What stripes still have would count as carried by one.
  if (spread.connections == 1) return spread.open == 0 ? Dispatch::plain : Dispatch::later;
  if (!stripes_->prepare(to, spread.connections) && !spread.ready) {
    if (now_ns() - spread.since_ns > kMaking) spread.width.give_up();
    return Dispatch::plain;
  }
  if (!std::exchange(spread.ready, true) && spread.width.fixed()) {
    log::information("long messages to rank %d go over %u connections", static_cast<std::int32_t>(to),
                     spread.connections);
  }
  if (spread.open >= (spread.width.trying() ? 1 : kOpen)) return Dispatch::later;
  if (!send(to, {.kind = FrameKind::link_spread, .id = static_cast<std::uint64_t>(first.receive)}, {})) {
    return Dispatch::later;
  }
  other.leaving.pop_front();
  ++spread.open;
  ++spreading_;
  stripes_->send(to, 0, first.source, first.bytes, first.send);
  note_stripes();
  return Dispatch::spread;
}

// Finds out what has gone, and over how many connections the next payload is to go.
void WireLink::note_carried(LinkPeer to, Peer& other) {
  Spread& spread = other.spread;
  const std::uint64_t now = now_ns();
  if (!spread.width.fixed() && now - spread.noted_ns >= kNoted) {
    spread.noted_ns = now;
    const TcpFacts facts = other.bulk.open ? tcp_facts(other.bulk.open->socket()) : TcpFacts{};
    const Stripes::Increase bulk{.bytes = facts.bytes_acked, .us = carrying_us(facts)};
    const Stripes::Increase before = std::exchange(spread.bulk_noted, bulk);
    const Stripes::Increase stripes = stripes_->carried_since(to);
    spread.by_bulk.bytes += bulk.bytes - before.bytes;
    spread.by_bulk.us += bulk.us - std::min(bulk.us, before.us);
    spread.by_stripes.bytes += stripes.bytes;
    spread.by_stripes.us += stripes.us;
    tell_width(to, spread);
  }
  if (spread.width.now() == spread.connections) return;
  spread.connections = spread.width.now();
  spread.since_ns = now;
  spread.by_bulk = spread.by_stripes = {};
  spread.short_bytes = 0;
  // What stripes have goes on over so many.
  if (spread.ready && spread.connections > 1) stripes_->prepare(to, spread.connections);
}

void WireLink::tell_width(LinkPeer to, Spread& spread) {
  const bool narrow = spread.connections == 1;
  const Stripes::Increase carried = narrow ? spread.by_bulk : spread.by_stripes;
  if (carried.us < kLeastBusy) return;
  const std::uint64_t foreign = narrow ? spread.by_stripes.bytes + spread.short_bytes : spread.by_bulk.bytes;
  const std::uint32_t known = spread.width.known();
  if (foreign > carried.bytes / kForeign) {
    spread.width.mixed(spread.connections, carried.us * 1000);
  } else {
    spread.width.carried(spread.connections, carried.bytes, carried.us * 1000);
  }
  spread.by_bulk = spread.by_stripes = {};
  spread.short_bytes = 0;
  if (spread.width.known() != known) {
    log::information("long messages to rank %d go over %u connections, which carry more than %u",
                     static_cast<std::int32_t>(to), spread.width.known(), known);
  }
}

void WireLink::note_spreading() {
  for (auto& [rank, other] : peers_) {
    if (other.spread.open != 0 && other.spread.connections > 1) note_carried(rank, other);
  }
}

// Stripes have done with a payload.
void WireLink::spread_ended(LinkPeer to) {
  Peer& other = peer(to);
  --other.spread.open;
  --spreading_;
  if (other.leaving.empty()) return;
  unfinished_.push_back(to);
  more_.store(true, std::memory_order_relaxed);
}

// --- in --------------------------------------------------------------------------------------------------------------

bool WireLink::spread_arrived(LinkPeer rank, const Frame& frame) {
  const auto found = peer(rank).landings.find(LinkTicket{frame.id});
  if (!stripes_ || found == peer(rank).landings.end() || found->second.at != 0) return false;
  const Landing landing = found->second;
  peer(rank).landings.erase(found);
  stripes_->receive(rank, 0, landing.target, landing.bytes, landing.bytes, LinkTicket{frame.id});
  note_stripes();
  return true;
}

}  // namespace urakata::transport
