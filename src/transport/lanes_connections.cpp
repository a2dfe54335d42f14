// SPDX-License-Identifier: BSD-3-Clause
// The lanes of a pair: made, accepted, watched and given up.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "transport/lanes.hpp"
#include "transport/tcp_facts.hpp"

namespace urakata::transport {

namespace {

constexpr int kUnsent = 32 * 1024;  // bytes that wait in the kernel for their turn, at most
// ms without an acknowledgement: three lost packets in a row, one after another. Where the others have nothing left to do:
// the last packet was lost, and what TCP sends again after 200 ms, too.
constexpr std::uint64_t kSilence = 600;
constexpr std::uint64_t kLastSilence = 250;
constexpr std::uint64_t kConnecting = 3000;
constexpr std::uint32_t kRoundTrips = 8;              // likewise; the longer of the two
constexpr std::uint64_t kMillisecond = 1'000'000;     // ns
constexpr std::uint64_t kMakingAnew = 1'000'000'000;  // ns

}  // namespace

std::size_t Lanes::alive(const Peer& to, bool out, bool open) const {
  return static_cast<std::size_t>(std::ranges::count_if(to.lanes, [&](const Lane& lane) {
    return lane.out == out && !lane.connection->broken() && (lane.connection->open || !open);
  }));
}

void Lanes::shape(int socket, bool near) const {
  setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsent, sizeof kUnsent);
  if (near || settings_.congestion.empty()) return;
  const std::string& wanted = settings_.congestion;
  if (setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, wanted.data(), static_cast<socklen_t>(wanted.size())) != 0) {
    static const bool told = [&] {
      log::warning("CONGESTION=%s: %s; connections between sites have the system's congestion control", wanted.c_str(),
                   std::strerror(errno));
      return true;
    }();
    static_cast<void>(told);
  }
}

// As many as the backlog keeps busy.
void Lanes::open_lanes(std::int32_t rank, Peer& to) {
  const std::uint64_t flights = std::max<std::uint64_t>((to.backlog + kFirstFlight - 1) / kFirstFlight, 1);
  std::uint32_t most = to.waiting.empty() ? lanes_of(to).first : 0;
  for (const Outgoing* const message : to.waiting) most = std::max(most, lanes_of(to, message->streams).first);
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(most, flights));
  make_lanes(rank, to, wanted);
}

void Lanes::make_lanes(std::int32_t rank, Peer& to, std::size_t wanted) {
  const std::size_t here = alive(to, true, false);
  if (here >= wanted) return;
  if (to.again_ns != 0 && settings_.now() < to.again_ns) return;
  for (std::size_t i = here; i < wanted; ++i) {
    auto made = wire_.connect_to(rank, FrameKind::hello_lane, epoll_);
    if (!made) {
      to.again_ns = settings_.now() + kAgain;
      if (alive(to, true, false) == 0 && wants(to)) note_down(to, 0);
      return;
    }
    shape(made->socket(), to.near);
    Lane& lane = to.lanes.emplace_back();
    lane.rank = rank;
    lane.out = true;
    lane.made_ns = settings_.now();
    by_connection_[made.get()] = &lane;
    lane.connection = std::move(made);
  }
}

void Lanes::adopt(Wire::Accepted&& accepted) {
  const std::int32_t rank = accepted.connection->rank;
  if (accepted.connection->broken()) return;
  Peer& from = peers_[rank];
  accepted.connection->watched_by(epoll_);
  accepted.connection->open = true;
  wire_.greet(*accepted.connection, FrameKind::hello_ack);
  Lane& lane = from.lanes.emplace_back();
  lane.rank = rank;
  by_connection_[accepted.connection.get()] = &lane;
  lane.connection = std::move(accepted.connection);
  from.down_since_ns = 0;
}

Lanes::Packets Lanes::packets(std::int32_t rank) {
  const std::lock_guard guard(lock_);
  Packets all;
  const auto found = peers_.find(rank);
  if (found == peers_.end()) return all;
  for (const Lane& lane : found->second.lanes) {
    if (!lane.out || lane.connection->broken()) continue;
    const TcpFacts facts = settings_.facts(lane.connection->socket());
    all.sent += facts.data_segments_out;
    all.again += facts.sent_again;
    if (facts.bytes_acked != 0) {
      all.arrived += facts.bytes_acked + std::uint64_t{facts.selectively} * facts.send_segment;
    }
  }
  return all;
}

Lanes::Increase Lanes::carried_since(std::int32_t rank) {
  const std::lock_guard guard(lock_);
  Increase all;
  const auto found = peers_.find(rank);
  if (found == peers_.end()) return all;
  for (Lane& lane : found->second.lanes) {
    if (!lane.out || !lane.connection->open || lane.connection->broken()) continue;
    const TcpFacts facts = settings_.facts(lane.connection->socket());
    const Increase now{.bytes = facts.bytes_acked, .us = carrying_us(facts)};
    const Increase before = std::exchange(lane.told_carried, now);
    all.bytes += now.bytes - before.bytes;
    all.us = std::max(all.us, now.us - std::min(now.us, before.us));
  }
  return all;
}

void Lanes::note_near(std::int32_t rank) {
  const std::lock_guard guard(lock_);
  Peer& peer = peers_[rank];
  peer.near = true;
  note(peer);
}

void Lanes::set_streams(std::int32_t rank, std::uint32_t streams, std::uint32_t most) {
  const std::lock_guard guard(lock_);
  Peer& to = peers_[rank];
  to.streams = {.most = streams, .first = std::max(streams, most)};
}

bool Lanes::prepare(std::int32_t rank, std::uint32_t streams) {
  const std::lock_guard guard(lock_);
  Peer& to = peers_[rank];
  to.near = true;
  note(to);
  to.streams = {.most = streams, .first = streams};
  make_lanes(rank, to, streams);
  return alive(to, true, true) >= streams;
}

// --- what is lost ----------------------------------------------------------------------------------------------------

void Lanes::tick() {
  std::uint64_t word = 0;
  [[maybe_unused]] const auto got = read(timer_, &word, sizeof word);
  const std::uint64_t now = settings_.now();
  for (auto& [rank, peer] : peers_) {
    if (peer.failed) continue;
    note_told(peer);
    if (wants(peer)) {
      check_lanes(rank, peer, now);
    } else {
      forget_silence(peer);
    }
  }
}

// Acknowledgements that have arrived as far as the kernel knows.
void Lanes::note_told(Peer& peer) const {
  for (Lane& lane : peer.lanes) {
    if (!lane.telling || lane.connection->broken() || !lane.connection->queue().empty()) continue;
    const TcpFacts facts = settings_.facts(lane.connection->socket());
    lane.telling = facts.not_acknowledged != 0 || facts.bytes_not_sent != 0;
  }
}

// ns for which the other end has answered nothing.
std::uint64_t Lanes::silence(Lane& lane, const TcpFacts& facts, std::uint64_t now) {
  // A process that computes says nothing for long; its kernel answers.
  if (facts.state == TCP_SYN_SENT) return now - lane.made_ns;
  if (facts.not_acknowledged == 0) {
    lane.unanswered_since_ns = 0;
    return 0;
  }
  if (lane.unanswered_since_ns == 0) lane.unanswered_since_ns = now;
  // The last acknowledgement may be from long before what is under way now.
  const std::uint64_t since = !lane.connection->open ? lane.made_ns
                              : lane.out             ? lane.busy_since_ns
                                                     : lane.unanswered_since_ns;
  return std::min<std::uint64_t>(facts.since_ack_ms * kMillisecond, now - since);
}

// Does the other node still acknowledge what its lanes bring, and what is answered on them?
void Lanes::check_lanes(std::int32_t rank, Peer& peer, std::uint64_t now) {
  std::vector<Lane*> silent_out, silent_in;
  bool heard_out = false, heard = false;
  if (peer.node && settings_.answered(*peer.node)) {
    // A process that computes accepts no lane, for however long. So the time without an answer starts anew.
    for (Lane& lane : peer.lanes) {
      if (!lane.connection->open) lane.made_ns = now;
    }
    if (peer.down_since_ns != 0) peer.down_since_ns = now;
    peer.node.reset();
  }
  bool unanswered = peer.down_since_ns != 0;
  const bool last = std::ranges::none_of(peer.waiting, [](const Outgoing* message) { return message->ready(); });
  for (Lane& lane : peer.lanes) {
    if (lane.connection->broken()) continue;
    const TcpFacts facts = settings_.facts(lane.connection->socket());
    const bool open = lane.connection->open;
    lane.silence_ns = silence(lane, facts, now);
    const std::uint64_t shortest = !open ? kConnecting : lane.out && last ? kLastSilence : kSilence;
    const std::uint64_t bound =
        std::max(shortest * kMillisecond, std::uint64_t{kRoundTrips} * facts.round_trip_us * 1000);
    if (lane.silence_ns > bound) {
      unanswered = unanswered || !open;
      (lane.out ? silent_out : silent_in).push_back(&lane);
    } else {
      heard_out = heard_out || (open && lane.out);
      heard = heard || open;
    }
    if (lane.silence_ns > wire_.timeout_ns()) lane.connection->end();
  }
  if (unanswered && !heard && !peer.node) peer.node = std::make_unique<NodeProbe>(wire_.address_of(rank));
  if (heard_out && !silent_out.empty()) {
    std::set<const Outgoing*> messages;
    for (const Lane* lane : silent_out) {
      for (const Given& given : lane->unacked) messages.insert(given.message);
    }
    log::information(
        "%zu of %zu lanes to rank %d acknowledge nothing: what they had of %zu messages goes over the others",
        silent_out.size(), alive(peer, true, false), rank, messages.size());
    for (Lane* lane : silent_out) lane->connection->end();
  }
  if (heard) {
    for (Lane* lane : silent_in) lane->connection->end();
  }
  // All that there are, be it one: a connection of another flow tells whether it is the node. One at a time.
  if (!silent_out.empty() && silent_out.size() == alive(peer, true, true) &&
      silent_out.size() == alive(peer, true, false)) {
    make_lanes(rank, peer, silent_out.size() + 1);
  }
  for (auto it = peer.lanes.begin(); it != peer.lanes.end();) {
    Lane& lane = *it++;
    if (lane.connection->broken()) lose(rank, peer, lane);
  }
  if (peer.failed) return;
  tell_all_go(peer);
  // Whoever only receives learns by a connection of its own whether the other process is still there.
  if (peer.lanes.empty() && (peer.again_ns == 0 || now >= peer.again_ns)) open_lanes(rank, peer);
  push(rank, peer);
  if (peer.down_since_ns != 0 && settings_.now() - peer.down_since_ns > wire_.timeout_ns()) fail(rank, peer);
}

// Nothing has been heard of it for so long, of which counts what something was wanted of it. A new connection has a
// second all the same: the link may be back.
void Lanes::note_down(Peer& peer, std::uint64_t silence_ns) {
  if (peer.down_since_ns != 0) return;
  const std::uint64_t now = settings_.now();
  const std::uint64_t most = wire_.timeout_ns() - std::min(wire_.timeout_ns() / 2, kMakingAnew);
  const std::uint64_t wanted_ns = peer.wanted_since_ns != 0 ? now - peer.wanted_since_ns : 0;
  peer.down_since_ns = now - std::min({silence_ns, wanted_ns, most});
}

// Nothing is wanted of it, so how long it has said nothing means nothing.
void Lanes::forget_silence(Peer& peer) {
  peer.down_since_ns = peer.wanted_since_ns = 0;
  peer.node.reset();
  for (Lane& lane : peer.lanes) lane.unanswered_since_ns = 0;
}

// What the lane had and is not acknowledged goes over others.
void Lanes::lose(std::int32_t rank, Peer& of, Lane& lane) {
  const int code = lane.connection->error();
  const bool out = lane.out;
  const std::uint64_t silence_ns = lane.silence_ns;
  if (out && wants(of)) ++of.traffic.lost;
  if (lane.busy && !lane.unacked.empty()) --lane.unacked.back().message->queued;
  for (const Given& given : lane.unacked) {
    Outgoing& message = *given.message;
    message.unacked.erase(given.offset);
    if (!message.more()) of.waiting.push_front(&message);
    message.again.push_back({given.offset, given.bytes});
  }
  of.untold = of.untold || lane.telling;
  std::erase(to_acknowledge_, &lane);
  by_connection_.erase(lane.connection.get());
  lane.connection->end();
  buried_.push_back(std::move(lane.connection));
  of.lanes.remove_if([&](const Lane& one) { return &one == &lane; });
  if (of.failed || !wants(of)) return;
  if (out) of.again_ns = settings_.now() + kAgain;
  if (out ? alive(of, true, true) == 0 : of.lanes.empty()) {
    // The kernel's own questions to an idle node take the timeout.
    if (of.down_since_ns == 0) of.again_ns = 0;
    note_down(of, code == ETIMEDOUT ? wire_.timeout_ns() : silence_ns);
    // Nobody listens there any more: the process has ended.
    if (code == ECONNREFUSED) return fail(rank, of);
  }
  if (of.lanes.empty()) open_lanes(rank, of);
}

void Lanes::close_lanes(Peer& peer) {
  for (Lane& lane : peer.lanes) {
    by_connection_.erase(lane.connection.get());
    std::erase(to_acknowledge_, &lane);
    lane.connection->end();
    buried_.push_back(std::move(lane.connection));
  }
  peer.lanes.clear();
}

void Lanes::close_idle() {
  const std::lock_guard guard(lock_);
  for (auto& [rank, peer] : peers_) {
    if (!wants(peer)) close_lanes(peer);
  }
}

void Lanes::fail(std::int32_t rank, Peer& peer) {
  const bool wanted = wants(peer);
  peer.failed = true;
  peer.untold = false;
  site_.clear();
  for (Outgoing& message : peer.outgoing) {
    if (message.port != nullptr) complete(*message.port, message.ticket, failure_);
  }
  for (auto& [key, incoming] : peer.incoming) {
    if (incoming.port != nullptr) complete(*incoming.port, incoming.ticket, failure_);
  }
  peer.waiting.clear();
  peer.backlog = 0;
  close_lanes(peer);
  peer.outgoing.clear();
  peer.incoming.clear();
  note(peer);
  if (wanted) {
    log::error("lost all lanes to rank %d: its process has ended, or its node has not answered for %llu s", rank,
               static_cast<unsigned long long>(wire_.timeout_ns() / 1'000'000'000));
  }
}

}  // namespace urakata::transport
