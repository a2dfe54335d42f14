// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/stripes.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace urakata::transport {

namespace {

constexpr long kTick = 100'000'000;           // ns
constexpr std::uint64_t kLeastFlight = 4096;  // bytes of a first flight that are worth a piece

}  // namespace

Stripes::Stripes(Wire& wire, Failures& failures, Settings settings)
    : wire_(wire),
      failures_(failures),
      failure_(failures.code),
      settings_(std::move(settings)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      streams_(settings_.streams) {}

Result<std::unique_ptr<Stripes>> Stripes::open(Wire& wire, Failures& failures, const Settings& settings) {
  std::unique_ptr<Stripes> stripes(new Stripes(wire, failures, settings));
  bool watched = stripes->epoll_ >= 0 && stripes->timer_ >= 0;
  const auto watch = [&](int descriptor, void* what) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = what;
    watched = watched && epoll_ctl(stripes->epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
  };
  watch(wire.accepting(), &wire);                     // who connects
  watch(wire.accepted_stripes_readiness(), nullptr);  // who has been
  watch(stripes->timer_, stripes.get());
  if (watched) return stripes;
  return Error{std::string("cannot watch the sockets of long messages: ") + std::strerror(errno) +
               "; each pair of ranks has one connection"};
}

Stripes::~Stripes() {
  peers_.clear();
  buried_.clear();
  if (timer_ >= 0) close(timer_);
  if (epoll_ >= 0) close(epoll_);
}

std::map<std::int32_t, Stripes::Traffic> Stripes::traffic() {
  const std::lock_guard guard(lock_);
  std::map<std::int32_t, Traffic> all;
  for (const auto& [rank, peer] : peers_) all[rank] = peer.traffic;
  return all;
}

Stripes::Traffic Stripes::traffic(std::int32_t rank) {
  const std::lock_guard guard(lock_);
  const auto found = peers_.find(rank);
  return found == peers_.end() ? Traffic{} : found->second.traffic;
}

// --- sending ---------------------------------------------------------------------------------------------------------

// What a stripe of the first `most` may have under way: its share of all that is still to come, so that stripes end
// together. The kernel takes more of it than that, and soon, as far as windows allow: then whoever asks first would
// have the most.
std::uint64_t Stripes::share_of(const Peer& to, std::uint32_t most) {
  std::uint64_t all = to.backlog;
  std::uint32_t stripes = 0;
  for (const Stripe& stripe : to.stripes) {
    if (!stripe.out || !stripe.connection->open || stripe.connection->broken()) continue;
    if (++stripes > most) break;
    all += stripe.unacked_bytes;
  }
  return all / std::clamp(stripes, 1U, std::max(most, 1U)) + kLeastPiece;
}

// The stripe that has the least under way, of those that can take more.
Stripes::Free Stripes::free_stripe(Peer& to, const Streams& use) {
  Free best;
  // Stripes that the link does not need take what goes first after a pause. Later that would come behind a queue that
  // is full, and be lost, with nothing behind it that shows it.
  const bool idle = std::ranges::all_of(to.stripes, [](const Stripe& stripe) { return stripe.unacked_bytes == 0; });
  if (idle) to.first_bytes = std::uint64_t{use.first} * kFirstFlight;
  const std::uint64_t share = share_of(to, use.most);
  std::uint32_t count = 0;
  for (Stripe& stripe : to.stripes) {
    if (!stripe.out || !stripe.connection->open || stripe.connection->broken()) continue;
    if (++count > use.first) break;
    if (stripe.busy) continue;
    const bool first_flight = stripe.unacked_bytes + kLeastFlight <= kFirstFlight;
    if (count > use.most && !(first_flight && to.first_bytes != 0)) continue;
    if (!first_flight && stripe.unacked_bytes + kLeastPiece > share) continue;
    if (stripe.unacked_bytes == 0) ++best.idle;
    if (best.stripe != nullptr && stripe.unacked_bytes >= best.stripe->unacked_bytes) continue;
    best.stripe = &stripe;
    best.room = first_flight ? kFirstFlight - stripe.unacked_bytes : std::min(kMostPiece, share - stripe.unacked_bytes);
  }
  return best;
}

void Stripes::note(Peer& peer) {
  const bool awaited =
      !peer.near && std::ranges::any_of(peer.incoming, [](const auto& entry) { return entry.second.port != nullptr; });
  if (awaited == peer.awaited) return;
  peer.awaited = awaited;
  awaited_ += awaited ? 1U : -1U;
}

// Gives stripes what they take.
void Stripes::push(std::int32_t rank, Peer& to) {
  if (!to.waiting.empty()) open_stripes(rank, to);
  std::uint32_t full = 0;  // none of so many stripes is free
  for (std::size_t at = 0; at < to.waiting.size();) {
    Outgoing& message = *to.waiting[at];
    if (!message.more()) {
      to.waiting.erase(to.waiting.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    const Streams use = stripes_of(to, message.streams);
    if (!message.ready() || use.first <= full) {
      ++at;
      continue;
    }
    const Free free = free_stripe(to, use);
    if (free.stripe == nullptr) {
      full = use.first;
      continue;
    }
    give(rank, to, message, free);
  }
}

// The next piece of the message. Towards the end of all that waits pieces are shorter, so that stripes end together.
void Stripes::give(std::int32_t rank, Peer& to, Outgoing& message, const Free& free) {
  Stripe& stripe = *free.stripe;
  Outgoing::Span piece{};
  if (!message.again.empty()) {
    piece = message.again.back();
    message.again.pop_back();
    ++to.traffic.again;
  } else {
    // What fits into the first flights of idle stripes is dealt out to them alike.
    const bool fits = free.idle != 0 && to.backlog <= free.idle * kFirstFlight;
    const std::uint64_t share =
        fits ? std::max((to.backlog + free.idle - 1) / free.idle, kPacket)
             : std::min(std::clamp(to.backlog / (2UL * stripes_of(to, message.streams).most), kLeastPiece, kMostPiece),
                        free.room);
    std::uint64_t left = message.bytes - message.next;
    if (!message.clear_to_send) left = std::min(left, kPush - message.next);
    piece = {message.next, left < share + share / 2 && left <= free.room ? left : share};
    message.next += piece.bytes;
    message.given = message.next == message.bytes;
    to.backlog -= piece.bytes;
  }
  ++to.traffic.pieces;
  to.traffic.bytes += piece.bytes;
  to.first_bytes -= std::min(to.first_bytes, piece.bytes);
  message.unacked.insert(piece.offset);
  if (stripe.unacked.empty()) stripe.busy_since_ns = settings_.now();
  stripe.unacked.push_back({&message, piece.offset, piece.bytes});
  stripe.unacked_bytes += piece.bytes;
  ++message.queued;
  stripe.busy = true;
  const bool gone =
      stripe.connection->send({.frame = {.kind = FrameKind::stripe_piece,
                                         .tag = message.tag,
                                         .bytes = piece.bytes,
                                         .id = piece.offset << kNumberBits | (message.number & kNumberMask)},
                               .payload = message.payload + static_cast<std::ptrdiff_t>(piece.offset - message.from)});
  if (stripe.connection->broken()) {
    lose(rank, to, stripe);
    return;
  }
  if (gone) {
    stripe.busy = false;
    handed(to, message);
  }
}

// The kernel has all of a piece.
void Stripes::handed(Peer& to, Outgoing& message) {
  --message.queued;
  if (message.port == nullptr) return;
  message.ticket.tell(message.next);  // given to stripes: up to a piece of each of them is still to go
  if (message.queued == 0 && !message.more()) sent_all(to, message);
}

// Nobody need wait for what the kernel has, if we can send it again.
void Stripes::sent_all(Peer& /*to*/, Outgoing& message) {
  if (!message.unacked.empty() && message.bytes - *message.unacked.begin() > kMostKept) return;
  keep(message);
  complete(*std::exchange(message.port, nullptr), std::exchange(message.ticket, {}), 0);
}

// What is not acknowledged is ours from now on.
void Stripes::keep(Outgoing& message) {
  if (!message.kept.empty() || message.unacked.empty()) return;
  const std::uint64_t from = *message.unacked.begin();
  const std::byte* const begin = message.payload + static_cast<std::ptrdiff_t>(from - message.from);
  message.kept.assign(begin, begin + static_cast<std::ptrdiff_t>(message.bytes - from));
  message.payload = message.kept.data();
  message.from = from;
}

// --- progress --------------------------------------------------------------------------------------------------------

void Stripes::serve(Stripe& stripe, std::uint32_t events) {
  const std::int32_t rank = stripe.rank;
  Peer& other = peers_[rank];
  Connection& connection = *stripe.connection;
  if (connection.broken()) return;
  if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0 && connection.flush(gone_) && stripe.out && stripe.busy &&
      connection.queue().empty()) {
    stripe.busy = false;
    handed(other, *stripe.unacked.back().message);
    push(rank, other);
  }
  if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 && !connection.broken()) connection.receive(*this);
  if (connection.broken() && by_connection_.contains(&connection)) {  // else it has been lost on the way
    lose(rank, other, stripe);
    push(rank, other);
  }
  note(other);
}

void Stripes::poll(StripesPort* port) {
  const std::lock_guard guard(lock_);
  polling_ = port;
  std::array<epoll_event, 32> found;
  const int count = epoll_wait(epoll_, found.data(), static_cast<int>(found.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& one = found[static_cast<std::size_t>(i)];
    if (one.data.ptr == &wire_) {
      wire_.accept_pending();
    } else if (one.data.ptr == nullptr) {
      for (Wire::Accepted& made : wire_.accepted_stripes()) adopt(std::move(made));
    } else if (one.data.ptr == this) {
      tick();
    } else if (const auto at = by_connection_.find(static_cast<const Connection*>(one.data.ptr));
               at != by_connection_.end()) {
      serve(*at->second, one.events);
    }
  }
  acknowledge();
  buried_.clear();
  if (count > 0) arm();
  if (port != nullptr) {
    if (port->told_) {
      port->told_ = false;
      std::uint64_t word = 0;
      [[maybe_unused]] const auto got = read(port->readiness_, &word, sizeof word);
    }
    port->reported_.swap(port->finished_);
  }
  polling_ = nullptr;
}

// One word for all pieces of a connection that came meanwhile.
void Stripes::acknowledge() {
  for (Stripe* stripe : std::exchange(to_acknowledge_, {})) {
    if (stripe->connection->broken() || stripe->told == stripe->come) continue;
    stripe->told = stripe->come;
    stripe->telling = true;
    stripe->connection->send({.frame = {.kind = FrameKind::stripe_ack, .bytes = stripe->come}});
  }
}

bool Stripes::wants(const Peer& peer) const {
  return !peer.outgoing.empty() ||
         std::ranges::any_of(peer.incoming, [](const auto& entry) { return entry.second.port != nullptr; });
}

bool Stripes::telling(const Peer& peer) {
  return peer.untold || std::ranges::any_of(peer.stripes, [](const Stripe& stripe) { return stripe.telling; });
}

// The clock ticks while something could be lost.
void Stripes::arm() {
  bool wanted = false, ticking = false;
  for (const auto& [rank, peer] : peers_) {
    if (peer.failed) continue;
    wanted = wanted || wants(peer);
    ticking = ticking || telling(peer);
  }
  if (wanted_ && !wanted) {
    for (auto& [rank, peer] : peers_) forget_silence(peer);
  }
  wanted_ = wanted;
  ticking = ticking || wanted;
  if (ticking == armed_) return;
  armed_ = ticking;
  itimerspec times{};
  if (ticking) times.it_value.tv_nsec = times.it_interval.tv_nsec = kTick;
  timerfd_settime(timer_, 0, &times, nullptr);
}

bool Stripes::sending() {
  const std::lock_guard guard(lock_);
  return std::ranges::any_of(peers_, [](const auto& entry) { return !entry.second.outgoing.empty(); });
}

// Asked in each step of a domain in which nothing else goes on: the kernel is asked now and then.
bool Stripes::flushing() {
  constexpr std::uint64_t kPause = 4'000'000;  // ns
  const std::lock_guard guard(lock_);
  if (const std::uint64_t now = settings_.now(); now - told_checked_ns_ >= kPause) {
    told_checked_ns_ = now;
    for (auto& [rank, peer] : peers_) note_told(peer);
  }
  return std::ranges::any_of(peers_,
                             [](const auto& entry) { return !entry.second.outgoing.empty() || telling(entry.second); });
}

bool Stripes::settled() {
  poll(nullptr);
  return !sending();
}

void Stripes::put(StripesPort& port, const Ticket& ticket, int error) {
  const std::lock_guard guard(lock_);
  complete(port, ticket, error);
}

void Stripes::complete(StripesPort& port, const Ticket& ticket, int error) {
  port.finished_.push_back({ticket, error});
  if (&port == polling_ || port.told_) return;
  port.told_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(port.readiness_, &one, sizeof one);
}

}  // namespace urakata::transport
