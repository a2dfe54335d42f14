// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/stripe_watch.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/log.hpp"
#include "transport/stripes/stripe_receiver.hpp"

namespace urakata::transport {

namespace {

constexpr long kTick = 100'000'000;  // ns
// ms without an acknowledgement: three lost packets in a row, one after another. Where the others have nothing left to
// do: the last packet was lost, and what TCP sends again after 200 ms, too.
constexpr std::uint64_t kSilence = 600;
constexpr std::uint64_t kLastSilence = 250;
constexpr std::uint64_t kConnecting = 3000;
constexpr std::uint32_t kRoundTrips = 8;           // likewise; the longer of the two
constexpr std::uint64_t kMillisecond = 1'000'000;  // ns

}  // namespace

StripeWatch::StripeWatch(const Wire& wire, const StripesSettings& settings, StripePeers& peers, StripePool& pool,
                         StripeSender& sender)
    : wire_(wire),
      settings_(settings),
      peers_(peers),
      pool_(pool),
      sender_(sender),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

StripeWatch::~StripeWatch() {
  if (timer_ >= 0) close(timer_);
}

void StripeWatch::arm() {
  bool wanted = false, ticking = false;
  for (const auto& [rank, peer] : peers_) {
    if (peer.failed) continue;
    wanted = wanted || peer.wanted();
    ticking = ticking || peer.acknowledging();
  }
  if (wanted_ && !wanted) {
    for (auto& [rank, peer] : peers_) peer.forget_silence();
  }
  wanted_ = wanted;
  ticking = ticking || wanted;
  if (ticking == armed_) return;
  armed_ = ticking;
  itimerspec times{};
  if (ticking) times.it_value.tv_nsec = times.it_interval.tv_nsec = kTick;
  timerfd_settime(timer_, 0, &times, nullptr);
}

void StripeWatch::tick() {
  std::uint64_t word = 0;
  [[maybe_unused]] const auto got = read(timer_, &word, sizeof word);
  const std::uint64_t now = settings_.now();
  for (auto& [rank, peer] : peers_) {
    if (peer.failed) continue;
    note_told(peer);
    if (peer.wanted()) {
      check(peer, now);
    } else {
      lose_broken(peer);
      peer.forget_silence();
    }
  }
}

// Acknowledgements that have arrived as far as the kernel knows.
void StripeWatch::note_told(StripePeer& peer) const {
  for (Stripe& stripe : peer.stripes) {
    bool& telling = stripe.acknowledgements.telling;
    if (!telling || stripe.connection->broken() || !stripe.connection->queue().empty()) continue;
    const TcpFacts facts = settings_.facts(stripe.connection->socket());
    telling = facts.not_acknowledged != 0 || facts.bytes_not_sent != 0;
  }
}

bool StripeWatch::flushing() {
  constexpr std::uint64_t kPause = 4'000'000;  // ns
  if (const std::uint64_t now = settings_.now(); now - told_checked_ns_ >= kPause) {
    told_checked_ns_ = now;
    for (auto& [rank, peer] : peers_) note_told(peer);
  }
  return std::ranges::any_of(
      peers_, [](const auto& entry) { return !entry.second.outgoing.open.empty() || entry.second.telling(); });
}

// --- one pair --------------------------------------------------------------------------------------------------------

// Does the other node still acknowledge what its stripes bring, and what is answered on them?
void StripeWatch::check(StripePeer& peer, std::uint64_t now) {
  ask_node(peer, now);
  const Silent silent = find_silent(peer, now);
  if (silent.unanswered && !silent.heard && !peer.silence.node) {
    peer.silence.node = std::make_unique<NodeProbe>(wire_.address_of(peer.rank));
  }
  give_up(peer, silent);
  if (peer.failed) return;
  StripeReceiver::tell_all_clear_to_send(peer);
  // A rank that only receives learns by a connection of its own whether the other process is still there.
  if (peer.stripes.empty() && (peer.again_ns == 0 || now >= peer.again_ns)) pool_.open(peer);
  sender_.push(peer);
  const auto& down_since_ns = peer.silence.down_since_ns;
  if (down_since_ns && settings_.now() - *down_since_ns > wire_.timeout_ns()) pool_.fail(peer);
}

// A process that computes accepts no stripe, for however long. So the time without an answer starts anew if its node
// answers.
void StripeWatch::ask_node(StripePeer& peer, std::uint64_t now) const {
  if (!peer.silence.node || !settings_.answered(*peer.silence.node)) return;
  for (Stripe& stripe : peer.stripes) {
    if (!stripe.connection->open) stripe.made_ns = now;
  }
  if (peer.silence.down_since_ns) peer.silence.down_since_ns = now;
  peer.silence.node.reset();
}

StripeWatch::Silent StripeWatch::find_silent(StripePeer& peer, std::uint64_t now) const {
  Silent silent;
  silent.unanswered = peer.silence.down_since_ns.has_value();
  const bool last =
      std::ranges::none_of(peer.outgoing.waiting, [](const OutgoingMessage* message) { return message->ready(); });
  for (Stripe& stripe : peer.stripes) {
    if (stripe.connection->broken()) continue;
    const TcpFacts facts = settings_.facts(stripe.connection->socket());
    const bool open = stripe.connection->open;
    stripe.silence_ns = stripe.measure_silence(facts, now);
    const std::uint64_t shortest = !open ? kConnecting : stripe.out && last ? kLastSilence : kSilence;
    const std::uint64_t bound =
        std::max(shortest * kMillisecond, std::uint64_t{kRoundTrips} * facts.round_trip_us * 1000);
    if (stripe.silence_ns > bound) {
      silent.unanswered = silent.unanswered || !open;
      (stripe.out ? silent.out : silent.in).push_back(&stripe);
    } else {
      silent.heard_out = silent.heard_out || (open && stripe.out);
      silent.heard = silent.heard || open;
    }
    if (stripe.silence_ns > wire_.timeout_ns()) stripe.connection->end();
  }
  return silent;
}

void StripeWatch::give_up(StripePeer& peer, const Silent& silent) {
  if (silent.heard_out && !silent.out.empty()) {
    std::set<const OutgoingMessage*> messages;
    for (const Stripe* stripe : silent.out) {
      for (const PiecesUnderWay::Piece& piece : stripe->given.pieces) messages.insert(piece.message);
    }
    log::information(
        "%zu of %zu connections to rank %d acknowledge nothing: what they had of %zu messages goes over the others",
        silent.out.size(), peer.alive(true, false), peer.rank, messages.size());
    for (Stripe* stripe : silent.out) stripe->connection->end();
  }
  if (silent.heard) {
    for (Stripe* stripe : silent.in) stripe->connection->end();
  }
  // All that there are, be it one: a connection of another flow tells whether it is the node. One at a time.
  if (!silent.out.empty() && silent.out.size() == peer.alive(true, true) &&
      silent.out.size() == peer.alive(true, false)) {
    pool_.make(peer, silent.out.size() + 1);
  }
  lose_broken(peer);
}

// Those that broke in a write have no event by which StripeFrames would lose them.
void StripeWatch::lose_broken(StripePeer& peer) {
  for (auto it = peer.stripes.begin(); it != peer.stripes.end();) {
    Stripe& stripe = *it++;
    if (!stripe.connection->broken()) continue;
    pool_.lose(stripe);
    if (peer.failed) return;  // that has ended all others, too
  }
}

}  // namespace urakata::transport
