// SPDX-License-Identifier: BSD-3-Clause
// The stripes of a pair: made, accepted, watched and given up.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "transport/stripes/stripes.hpp"
#include "transport/wire/tcp_facts.hpp"

namespace urakata::transport {

namespace {

constexpr int kUnsent = 32 * 1024;  // bytes that wait in the kernel for their turn, at most
// ms without an acknowledgement: three lost packets in a row, one after another. Where the others have nothing left to
// do: the last packet was lost, and what TCP sends again after 200 ms, too.
constexpr std::uint64_t kSilence = 600;
constexpr std::uint64_t kLastSilence = 250;
constexpr std::uint64_t kConnecting = 3000;
constexpr std::uint32_t kRoundTrips = 8;              // likewise; the longer of the two
constexpr std::uint64_t kMillisecond = 1'000'000;     // ns
constexpr std::uint64_t kMakingAnew = 1'000'000'000;  // ns

}  // namespace

std::size_t Stripes::alive(const Peer& to, bool out, bool open) const {
  return static_cast<std::size_t>(std::ranges::count_if(to.stripes, [&](const Stripe& stripe) {
    return stripe.out == out && !stripe.connection->broken() && (stripe.connection->open || !open);
  }));
}

void Stripes::shape(int socket, bool near) const {
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
void Stripes::open_stripes(std::int32_t rank, Peer& to) {
  const std::uint64_t flights = std::max<std::uint64_t>((to.backlog + kFirstFlight - 1) / kFirstFlight, 1);
  std::uint32_t most = to.waiting.empty() ? stripes_of(to).first : 0;
  for (const Outgoing* const message : to.waiting) most = std::max(most, stripes_of(to, message->streams).first);
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(most, flights));
  make_stripes(rank, to, wanted);
}

void Stripes::make_stripes(std::int32_t rank, Peer& to, std::size_t wanted) {
  const std::size_t here = alive(to, true, false);
  if (here >= wanted) return;
  if (to.again_ns != 0 && settings_.now() < to.again_ns) return;
  for (std::size_t i = here; i < wanted; ++i) {
    auto made = wire_.connect_to(rank, FrameKind::hello_stripe, epoll_);
    if (!made) {
      to.again_ns = settings_.now() + kAgain;
      if (alive(to, true, false) == 0 && wants(to)) note_down(to, 0);
      return;
    }
    shape(made->socket(), to.near);
    Stripe& stripe = to.stripes.emplace_back();
    stripe.rank = rank;
    stripe.out = true;
    stripe.made_ns = settings_.now();
    by_connection_[made.get()] = &stripe;
    stripe.connection = std::move(made);
  }
}

void Stripes::adopt(Wire::Accepted&& accepted) {
  const std::int32_t rank = accepted.connection->rank;
  if (accepted.connection->broken()) return;
  Peer& from = peers_[rank];
  accepted.connection->watched_by(epoll_);
  accepted.connection->open = true;
  wire_.greet(*accepted.connection, FrameKind::hello_ack);
  Stripe& stripe = from.stripes.emplace_back();
  stripe.rank = rank;
  by_connection_[accepted.connection.get()] = &stripe;
  stripe.connection = std::move(accepted.connection);
  from.down_since_ns = 0;
}

Stripes::Packets Stripes::packets(std::int32_t rank) {
  const std::lock_guard guard(lock_);
  Packets all;
  const auto found = peers_.find(rank);
  if (found == peers_.end()) return all;
  for (const Stripe& stripe : found->second.stripes) {
    if (!stripe.out || stripe.connection->broken()) continue;
    const TcpFacts facts = settings_.facts(stripe.connection->socket());
    all.sent += facts.data_segments_out;
    all.again += facts.sent_again;
    if (facts.bytes_acked != 0) {
      all.arrived += facts.bytes_acked + std::uint64_t{facts.selectively} * facts.send_segment;
    }
  }
  return all;
}

Stripes::Increase Stripes::carried_since(std::int32_t rank) {
  const std::lock_guard guard(lock_);
  Increase all;
  const auto found = peers_.find(rank);
  if (found == peers_.end()) return all;
  for (Stripe& stripe : found->second.stripes) {
    if (!stripe.out || !stripe.connection->open || stripe.connection->broken()) continue;
    const TcpFacts facts = settings_.facts(stripe.connection->socket());
    const Increase now{.bytes = facts.bytes_acked, .us = carrying_us(facts)};
    const Increase before = std::exchange(stripe.told_carried, now);
    all.bytes += now.bytes - before.bytes;
    all.us = std::max(all.us, now.us - std::min(now.us, before.us));
  }
  return all;
}

void Stripes::note_near(std::int32_t rank) {
  const std::lock_guard guard(lock_);
  Peer& peer = peers_[rank];
  peer.near = true;
  note(peer);
}

void Stripes::set_streams(std::int32_t rank, std::uint32_t streams, std::uint32_t most) {
  const std::lock_guard guard(lock_);
  Peer& to = peers_[rank];
  to.streams = {.most = streams, .first = std::max(streams, most)};
}

bool Stripes::prepare(std::int32_t rank, std::uint32_t streams) {
  const std::lock_guard guard(lock_);
  Peer& to = peers_[rank];
  to.near = true;
  note(to);
  to.streams = {.most = streams, .first = streams};
  make_stripes(rank, to, streams);
  return alive(to, true, true) >= streams;
}

// --- what is lost ----------------------------------------------------------------------------------------------------

void Stripes::tick() {
  std::uint64_t word = 0;
  [[maybe_unused]] const auto got = read(timer_, &word, sizeof word);
  const std::uint64_t now = settings_.now();
  for (auto& [rank, peer] : peers_) {
    if (peer.failed) continue;
    note_told(peer);
    if (wants(peer)) {
      check_stripes(rank, peer, now);
    } else {
      forget_silence(peer);
    }
  }
}

// Acknowledgements that have arrived as far as the kernel knows.
void Stripes::note_told(Peer& peer) const {
  for (Stripe& stripe : peer.stripes) {
    if (!stripe.telling || stripe.connection->broken() || !stripe.connection->queue().empty()) continue;
    const TcpFacts facts = settings_.facts(stripe.connection->socket());
    stripe.telling = facts.not_acknowledged != 0 || facts.bytes_not_sent != 0;
  }
}

// ns for which the other end has answered nothing.
std::uint64_t Stripes::silence(Stripe& stripe, const TcpFacts& facts, std::uint64_t now) {
  // A process that computes says nothing for long; its kernel answers.
  if (facts.state == TCP_SYN_SENT) return now - stripe.made_ns;
  if (facts.not_acknowledged == 0) {
    stripe.unanswered_since_ns = 0;
    return 0;
  }
  if (stripe.unanswered_since_ns == 0) stripe.unanswered_since_ns = now;
  // The last acknowledgement may be from long before what is under way now.
  const std::uint64_t since = !stripe.connection->open ? stripe.made_ns
                              : stripe.out             ? stripe.busy_since_ns
                                                       : stripe.unanswered_since_ns;
  return std::min<std::uint64_t>(facts.since_ack_ms * kMillisecond, now - since);
}

// Does the other node still acknowledge what its stripes bring, and what is answered on them?
void Stripes::check_stripes(std::int32_t rank, Peer& peer, std::uint64_t now) {
  std::vector<Stripe*> silent_out, silent_in;
  bool heard_out = false, heard = false;
  if (peer.node && settings_.answered(*peer.node)) {
    // A process that computes accepts no stripe, for however long. So the time without an answer starts anew.
    for (Stripe& stripe : peer.stripes) {
      if (!stripe.connection->open) stripe.made_ns = now;
    }
    if (peer.down_since_ns != 0) peer.down_since_ns = now;
    peer.node.reset();
  }
  bool unanswered = peer.down_since_ns != 0;
  const bool last = std::ranges::none_of(peer.waiting, [](const Outgoing* message) { return message->ready(); });
  for (Stripe& stripe : peer.stripes) {
    if (stripe.connection->broken()) continue;
    const TcpFacts facts = settings_.facts(stripe.connection->socket());
    const bool open = stripe.connection->open;
    stripe.silence_ns = silence(stripe, facts, now);
    const std::uint64_t shortest = !open ? kConnecting : stripe.out && last ? kLastSilence : kSilence;
    const std::uint64_t bound =
        std::max(shortest * kMillisecond, std::uint64_t{kRoundTrips} * facts.round_trip_us * 1000);
    if (stripe.silence_ns > bound) {
      unanswered = unanswered || !open;
      (stripe.out ? silent_out : silent_in).push_back(&stripe);
    } else {
      heard_out = heard_out || (open && stripe.out);
      heard = heard || open;
    }
    if (stripe.silence_ns > wire_.timeout_ns()) stripe.connection->end();
  }
  if (unanswered && !heard && !peer.node) peer.node = std::make_unique<NodeProbe>(wire_.address_of(rank));
  if (heard_out && !silent_out.empty()) {
    std::set<const Outgoing*> messages;
    for (const Stripe* stripe : silent_out) {
      for (const Given& given : stripe->unacked) messages.insert(given.message);
    }
    log::information(
        "%zu of %zu connections to rank %d acknowledge nothing: what they had of %zu messages goes over the others",
        silent_out.size(), alive(peer, true, false), rank, messages.size());
    for (Stripe* stripe : silent_out) stripe->connection->end();
  }
  if (heard) {
    for (Stripe* stripe : silent_in) stripe->connection->end();
  }
  // All that there are, be it one: a connection of another flow tells whether it is the node. One at a time.
  if (!silent_out.empty() && silent_out.size() == alive(peer, true, true) &&
      silent_out.size() == alive(peer, true, false)) {
    make_stripes(rank, peer, silent_out.size() + 1);
  }
  for (auto it = peer.stripes.begin(); it != peer.stripes.end();) {
    Stripe& stripe = *it++;
    if (stripe.connection->broken()) lose(rank, peer, stripe);
  }
  if (peer.failed) return;
  tell_all_clear_to_send(peer);
  // Whoever only receives learns by a connection of its own whether the other process is still there.
  if (peer.stripes.empty() && (peer.again_ns == 0 || now >= peer.again_ns)) open_stripes(rank, peer);
  push(rank, peer);
  if (peer.down_since_ns != 0 && settings_.now() - peer.down_since_ns > wire_.timeout_ns()) fail(rank, peer);
}

// Nothing has been heard of it for so long, of which counts what something was wanted of it. A new connection has a
// second all the same: the link may be back.
void Stripes::note_down(Peer& peer, std::uint64_t silence_ns) {
  if (peer.down_since_ns != 0) return;
  const std::uint64_t now = settings_.now();
  const std::uint64_t most = wire_.timeout_ns() - std::min(wire_.timeout_ns() / 2, kMakingAnew);
  const std::uint64_t wanted_ns = peer.wanted_since_ns != 0 ? now - peer.wanted_since_ns : 0;
  peer.down_since_ns = now - std::min({silence_ns, wanted_ns, most});
}

// Nothing is wanted of it, so how long it has said nothing means nothing.
void Stripes::forget_silence(Peer& peer) {
  peer.down_since_ns = peer.wanted_since_ns = 0;
  peer.node.reset();
  for (Stripe& stripe : peer.stripes) stripe.unanswered_since_ns = 0;
}

// What the stripe had and is not acknowledged goes over others.
void Stripes::lose(std::int32_t rank, Peer& of, Stripe& stripe) {
  const int code = stripe.connection->error();
  const bool out = stripe.out;
  const std::uint64_t silence_ns = stripe.silence_ns;
  if (out && wants(of)) ++of.traffic.lost;
  if (stripe.busy && !stripe.unacked.empty()) --stripe.unacked.back().message->queued;
  for (const Given& given : stripe.unacked) {
    Outgoing& message = *given.message;
    message.unacked.erase(given.offset);
    if (!message.more()) of.waiting.push_front(&message);
    message.again.push_back({given.offset, given.bytes});
  }
  of.untold = of.untold || stripe.telling;
  std::erase(to_acknowledge_, &stripe);
  by_connection_.erase(stripe.connection.get());
  stripe.connection->end();
  buried_.push_back(std::move(stripe.connection));
  of.stripes.remove_if([&](const Stripe& one) { return &one == &stripe; });
  if (of.failed || !wants(of)) return;
  if (out) of.again_ns = settings_.now() + kAgain;
  if (out ? alive(of, true, true) == 0 : of.stripes.empty()) {
    // The kernel's own questions to an idle node take the timeout.
    if (of.down_since_ns == 0) of.again_ns = 0;
    note_down(of, code == ETIMEDOUT ? wire_.timeout_ns() : silence_ns);
    // Nobody listens there any more: the process has ended.
    if (code == ECONNREFUSED) return fail(rank, of);
  }
  if (of.stripes.empty()) open_stripes(rank, of);
}

void Stripes::close_stripes(Peer& peer) {
  for (Stripe& stripe : peer.stripes) {
    by_connection_.erase(stripe.connection.get());
    std::erase(to_acknowledge_, &stripe);
    stripe.connection->end();
    buried_.push_back(std::move(stripe.connection));
  }
  peer.stripes.clear();
}

void Stripes::close_idle() {
  const std::lock_guard guard(lock_);
  for (auto& [rank, peer] : peers_) {
    if (!wants(peer)) close_stripes(peer);
  }
}

void Stripes::fail(std::int32_t rank, Peer& peer) {
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
  close_stripes(peer);
  peer.outgoing.clear();
  peer.incoming.clear();
  note(peer);
  if (wanted) {
    log::error("lost all connections to rank %d: its process has ended, or its node has not answered for %llu s", rank,
               static_cast<unsigned long long>(wire_.timeout_ns() / 1'000'000'000));
  }
}

}  // namespace urakata::transport
