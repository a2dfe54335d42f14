// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/stripes.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/mutex.hpp"
#include "transport/stripes/stripe_statistics.hpp"

namespace urakata::transport {

Stripes::Stripes(Wire& wire, Failures& failures, const Settings& settings)
    : wire_(wire),
      failures_(failures),
      settings_(settings),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      counts_(settings.streams),
      periods_(peers_, counts_, settings.now),
      pool_(wire, settings_, failures.code, epoll_, counts_, periods_),
      sender_(settings_, failures.code, counts_, periods_, pool_),
      receiver_(settings_, failures.code, counts_, pool_),
      watch_(wire, settings_, peers_, pool_, sender_),
      frames_(wire, failures, counts_, pool_, sender_, receiver_) {}

Result<std::unique_ptr<Stripes>> Stripes::open(Wire& wire, Failures& failures, const Settings& settings) {
  std::unique_ptr<Stripes> stripes(new Stripes(wire, failures, settings));
  const LockGuard guard(stripes->lock_);
  bool watched = stripes->epoll_ >= 0 && stripes->watch_.timer() >= 0;
  const auto watch = [&](int descriptor, void* what) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = what;
    watched = watched && epoll_ctl(stripes->epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
  };
  watch(wire.accepting(), &wire);                      // who connects
  watch(wire.accepted_stripes_descriptor(), nullptr);  // who has been
  watch(stripes->watch_.timer(), &stripes->watch_);
  if (watched) return stripes;
  return Error{std::string("cannot watch the sockets of long messages: ") + std::strerror(errno) +
               "; each pair of ranks has one connection"};
}

Stripes::~Stripes() {
  peers_.clear();
  pool_.forget_closed();
  if (epoll_ >= 0) close(epoll_);
}

// --- settings and statistics -----------------------------------------------------------------------------------------

void Stripes::set_streams(std::uint32_t streams) {
  const LockGuard guard(lock_);
  counts_.set(streams);
}

void Stripes::set_streams(std::int32_t rank, std::uint32_t streams, std::uint32_t most) {
  const LockGuard guard(lock_);
  peers_.at(rank).streams = {.most = streams, .first = std::max(streams, most)};
}

void Stripes::note_near(std::int32_t rank) {
  const LockGuard guard(lock_);
  StripePeer& peer = peers_.at(rank);
  peer.near = true;
  counts_.note_awaited(peer);
}

bool Stripes::prepare(std::int32_t rank, std::uint32_t streams) {
  const LockGuard guard(lock_);
  StripePeer& to = peers_.at(rank);
  to.near = true;
  counts_.note_awaited(to);
  to.streams = {.most = streams, .first = streams};
  pool_.make(to, streams);
  return to.alive(true, true) >= streams;
}

std::map<std::int32_t, Stripes::Traffic> Stripes::traffic() {
  const LockGuard guard(lock_);
  std::map<std::int32_t, Traffic> all;
  for (const auto& [rank, peer] : peers_) all[rank] = peer.traffic;
  return all;
}

Stripes::Traffic Stripes::traffic(std::int32_t rank) {
  const LockGuard guard(lock_);
  const StripePeer* const peer = peers_.find(rank);
  return peer == nullptr ? Traffic{} : peer->traffic;
}

Stripes::Packets Stripes::packets(std::int32_t rank) {
  const LockGuard guard(lock_);
  const StripePeer* const peer = peers_.find(rank);
  return peer == nullptr ? Packets{} : packets_to(*peer, settings_.facts);
}

Stripes::Increase Stripes::carried_since(std::int32_t rank) {
  const LockGuard guard(lock_);
  StripePeer* const peer = peers_.find(rank);
  return peer == nullptr ? Increase{} : transport::carried_since(*peer, settings_.facts);
}

void Stripes::note_sites(std::span<const std::int32_t> sites, std::uint64_t least) {
  const LockGuard guard(lock_);
  periods_.note_sites(sites, least);
}

Stripes::Busiest Stripes::busiest(std::int32_t site) {
  const LockGuard guard(lock_);
  return periods_.fastest(site);
}

// --- messages --------------------------------------------------------------------------------------------------------

bool Stripes::send(const Message& message, const Waiter& waiter) {
  const LockGuard guard(lock_);
  StripePeer& to = peers_.at(message.peer);
  const bool gone = sender_.send(to, message, waiter);
  if (!to.failed) watch_.note_posted();
  return gone;
}

bool Stripes::recv(const Message& message, const Waiter& waiter, int* error) {
  const LockGuard guard(lock_);
  const bool there = receiver_.recv(peers_.at(message.peer), message, waiter, error);
  if (!there) watch_.note_posted();
  return there;
}

void Stripes::put(const Waiter& waiter, int error) {
  const LockGuard guard(lock_);
  waiter.complete(error);
}

std::uint64_t Stripes::moved(const Ticket& ticket, std::int32_t peer, bool send) {
  const LockGuard guard(lock_);
  const StripePeer* const found = peers_.find(peer);
  if (found == nullptr) return 0;
  const auto is_it = [&ticket](const Waiter& waiter) {
    return waiter.queue != nullptr && waiter.ticket.instance == ticket.instance && waiter.ticket.node == ticket.node &&
           waiter.ticket.iteration == ticket.iteration;
  };
  if (send) {
    const auto& open = found->outgoing.open;
    const auto out = std::ranges::find_if(open, [&](const OutgoingMessage& message) { return is_it(message.waiter); });
    return out == open.end() ? 0 : out->next;
  }
  const auto& open = found->incoming.open;
  const auto in = std::ranges::find_if(open, [&](const auto& entry) { return is_it(entry.second.waiter); });
  return in == open.end() ? 0 : in->second.come;
}

std::size_t Stripes::cancel(const void* instance) {
  const LockGuard guard(lock_);
  std::size_t taken = 0;
  periods_.stop();  // nobody judges the links by a job whose operations fail
  for (auto& [rank, peer] : peers_) {
    taken += sender_.cancel(peer, instance);
    taken += receiver_.cancel(peer, instance);
  }
  watch_.arm();
  return taken;
}

void Stripes::tell(std::int32_t rank, const Notice& notice) {
  const LockGuard guard(lock_);
  receiver_.note_over(notice.origin);
  for (auto& [other, peer] : peers_) receiver_.discard_over(peer);
  StripePeer* const to = peers_.find(rank);
  if (to == nullptr) return;
  for (Stripe& stripe : to->stripes) {
    if (!stripe.connection->open || stripe.connection->broken()) continue;
    stripe.connection->send_soon(
        {.frame = {.kind = FrameKind::notice, .tag = notice.context, .id = static_cast<std::uint32_t>(notice.origin)}});
  }
}

// --- progress --------------------------------------------------------------------------------------------------------

void Stripes::poll(CompletionQueue& queue, std::vector<Completion>& reported) {
  const LockGuard guard(lock_);
  queue.begin_poll();
  progress();
  queue.end_poll(reported);
}

// Under the lock.
void Stripes::progress() {
  std::array<epoll_event, 32> found;
  const int count = epoll_wait(epoll_, found.data(), static_cast<int>(found.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& one = found[static_cast<std::size_t>(i)];
    if (one.data.ptr == &wire_) {
      wire_.accept_pending();
    } else if (one.data.ptr == nullptr) {
      for (Wire::Accepted& made : wire_.accepted_stripes()) {
        if (made.connection->broken()) continue;
        StripePeer& from = peers_.at(made.connection->rank);
        pool_.adopt(from, std::move(made.connection));
      }
    } else if (one.data.ptr == &watch_) {
      watch_.tick();
    } else if (Stripe* const stripe = pool_.find(one.data.ptr); stripe != nullptr) {
      frames_.serve(*stripe, one.events);
    }
  }
  pool_.acknowledge();
  pool_.forget_closed();
  if (count > 0) watch_.arm();
}

void Stripes::close_idle() {
  const LockGuard guard(lock_);
  for (auto& [rank, peer] : peers_) {
    if (!peer.wanted()) pool_.close(peer);
  }
}

bool Stripes::sending() {
  const LockGuard guard(lock_);
  return std::ranges::any_of(peers_, [](const auto& entry) { return !entry.second.outgoing.open.empty(); });
}

bool Stripes::flushing() {
  const LockGuard guard(lock_);
  return watch_.flushing();
}

bool Stripes::settled() {
  {
    const LockGuard guard(lock_);
    progress();
  }
  return !sending();
}

}  // namespace urakata::transport
