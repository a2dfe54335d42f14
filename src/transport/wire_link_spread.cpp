// The link's payload to ranks at the same site, where several connections carry it.
#include <algorithm>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "transport/tcp_facts.hpp"
#include "transport/wire_link.hpp"

namespace urakata::transport {

namespace {

constexpr std::uint32_t kOpen = 4;            // payloads that lanes have at a time, of one peer's
constexpr std::uint64_t kNoted = 5'000'000;   // ns between two looks at what was carried: each asks the kernel
constexpr std::uint64_t kLeastBusy = 10'000;  // us; the kernel counts these by its ticks, of up to 4000

}  // namespace

// --- out -------------------------------------------------------------------------------------------------------------

// How the first payload that is leaving goes on. `spread`: it has been given to lanes.
WireLink::Turn WireLink::turn(LinkPeer to, Peer& other) {
  const Leaving first = other.leaving.front();
  Spread& spread = other.spread;
  if (!lanes_ || lanes_->carries(to) || first.bytes < kLeastSpread) return Turn::plain;
  note_carried(to, other);
  if (first.at != 0) return Turn::plain;
  // What lanes still have would count as carried by one.
  if (spread.connections == 1) return spread.open == 0 ? Turn::plain : Turn::later;
  if (spread.open == kOpen) return Turn::later;
  if (!send(to, {.kind = FrameKind::link_spread, .id = static_cast<std::uint64_t>(first.receive)}, {})) {
    return Turn::later;
  }
  other.leaving.pop_front();
  ++spread.open;
  ++spreading_;
  lanes_->send(to, 0, first.source, first.bytes, first.send);
  note_lanes();
  return Turn::spread;
}

WireLink::Carried WireLink::carried(LinkPeer to, const Peer& other) {
  const Lanes::Carried lanes = lanes_->carried(to);
  const TcpFacts bulk = other.bulk.open ? tcp_facts(other.bulk.open->socket()) : TcpFacts{};
  return {.bytes = lanes.bytes + bulk.bytes_acked, .bulk_us = bulk.busy_us, .lanes_us = lanes.busy_us};
}

// Tells the width what has gone, and asks it over how many connections the next payload is to go.
void WireLink::note_carried(LinkPeer to, Peer& other) {
  Spread& spread = other.spread;
  const std::uint64_t now_is = now_ns();
  if (!spread.width.fixed() && now_is - spread.noted_ns >= kNoted) {
    spread.noted_ns = now_is;
    const Carried now = carried(to, other), then = spread.noted;
    const std::uint32_t known = spread.width.known();
    // A lane that was lost takes its figures along.
    const bool whole = now.bytes >= then.bytes && now.lanes_us >= then.lanes_us;
    const std::uint64_t busy_us = spread.connections == 1 ? now.bulk_us - then.bulk_us : now.lanes_us - then.lanes_us;
    if (!whole || busy_us >= kLeastBusy) spread.noted = now;
    if (whole && busy_us >= kLeastBusy &&
        spread.width.carried(spread.connections, now.bytes - then.bytes, busy_us * 1000) &&
        spread.width.known() != known) {
      log::information("long messages to rank %d go over %u connections, which carry more than %u",
                       static_cast<std::int32_t>(to), spread.width.known(), known);
    }
  }
  if (spread.width.now() == spread.connections) return;
  spread.connections = spread.width.now();
  if (spread.connections > 1) lanes_->set_streams_to(to, spread.connections);
}

void WireLink::note_spreading() {
  for (auto& [rank, other] : peers_) {
    if (other.spread.open != 0 && other.spread.connections > 1) note_carried(rank, other);
  }
}

// Lanes have done with a payload.
void WireLink::spread_over(LinkPeer to) {
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
  if (!lanes_ || found == peer(rank).landings.end() || found->second.at != 0) return false;
  const Landing landing = found->second;
  peer(rank).landings.erase(found);
  lanes_->receive(rank, 0, landing.target, landing.bytes, landing.bytes, LinkTicket{frame.id});
  note_lanes();
  return true;
}

}  // namespace urakata::transport
