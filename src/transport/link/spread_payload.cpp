// SPDX-License-Identifier: BSD-3-Clause
#include "transport/link/spread_payload.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "transport/link/link_sizes.hpp"
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

SpreadPayload::Dispatch SpreadPayload::dispatch(LinkPeer to, LinkPeerState& other) {
  const Leaving first = other.leaving.front();
  SpreadState& spread = other.spread;
  if (stripes_ == nullptr || stripes_->carries(to)) return Dispatch::plain;
  if (first.bytes < LinkSizes::kLeastSpread || first.source.shape != nullptr) {
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
  if (!connections_.send(to, {.kind = FrameKind::link_spread, .id = static_cast<std::uint64_t>(first.receive)}, {})) {
    return Dispatch::later;
  }
  other.leaving.pop_front();
  ++spread.open;
  ++open_;
  stripes_->send(to, 0, first.source, first.bytes, first.send);
  reports_.note_stripes(*stripes_);
  return Dispatch::spread;
}

// Samples the bytes carried, and sets over how many connections the next payload is to go.
void SpreadPayload::note_carried(LinkPeer to, LinkPeerState& other) {
  SpreadState& spread = other.spread;
  const std::uint64_t now = now_ns();
  if (!spread.width.fixed() && now - spread.noted_ns >= kNoted) {
    spread.noted_ns = now;
    const TcpFacts facts = other.bulk.open ? tcp_facts(other.bulk.open->socket()) : TcpFacts{};
    const StripeIncrease bulk{.bytes = facts.bytes_acked, .us = carrying_us(facts)};
    const StripeIncrease before = std::exchange(spread.bulk_noted, bulk);
    const StripeIncrease stripes = stripes_->carried_since(to);
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

void SpreadPayload::tell_width(LinkPeer to, SpreadState& spread) {
  const bool narrow = spread.connections == 1;
  const StripeIncrease carried = narrow ? spread.by_bulk : spread.by_stripes;
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

void SpreadPayload::note_all_carried() {
  if (open_ == 0) return;
  for (auto& [rank, other] : peers_) {
    if (other.spread.open != 0 && other.spread.connections > 1) note_carried(rank, other);
  }
}

void SpreadPayload::ended(LinkPeer to) {
  LinkPeerState& other = peers_.at(to);
  --other.spread.open;
  --open_;
  if (other.leaving.empty()) return;
  reports_.unfinished(to);
}

void SpreadPayload::forget(LinkPeerState& other) { open_ -= std::exchange(other.spread, {}).open; }

// --- in --------------------------------------------------------------------------------------------------------------

bool SpreadPayload::arrived(LinkPeer from, const Frame& frame) {
  auto& landings = peers_.at(from).landings;
  const auto found = landings.find(p2p::LinkTicket{frame.id});
  if (stripes_ == nullptr || found == landings.end() || found->second.at != 0) return false;
  const Landing landing = found->second;
  landings.erase(found);
  stripes_->receive(from, 0, landing.target, landing.bytes, landing.bytes, p2p::LinkTicket{frame.id});
  reports_.note_stripes(*stripes_);
  return true;
}

}  // namespace urakata::transport
