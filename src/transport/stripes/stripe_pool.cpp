// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/stripe_pool.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/log.hpp"

namespace urakata::transport {

namespace {

constexpr int kUnsent = 32 * 1024;             // bytes that wait in the kernel for their turn, at most
constexpr std::uint64_t kAgain = 500'000'000;  // ns from a loss until a stripe is made in its place

}  // namespace

Stripe* StripePool::find(const void* connection) const {
  const auto found = by_connection_.find(connection);
  return found == by_connection_.end() ? nullptr : found->second;
}

// --- made and accepted -----------------------------------------------------------------------------------------------

void StripePool::shape(int socket, bool near) const {
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

void StripePool::open(StripePeer& to) {
  constexpr std::uint64_t kFlight = StripeSizes::kFirstFlight;
  const OutgoingMessages& outgoing = to.outgoing;
  const std::uint64_t flights = std::max<std::uint64_t>((outgoing.backlog + kFlight - 1) / kFlight, 1);
  std::uint32_t most = outgoing.waiting.empty() ? counts_.of(to).first : 0;
  for (const OutgoingMessage* const message : outgoing.waiting) {
    most = std::max(most, counts_.of(to, message->streams).first);
  }
  make(to, static_cast<std::size_t>(std::min<std::uint64_t>(most, flights)));
}

void StripePool::make(StripePeer& to, std::size_t wanted) {
  const std::size_t here = to.alive(true, false);
  if (here >= wanted) return;
  if (to.again_ns != 0 && settings_.now() < to.again_ns) return;
  for (std::size_t i = here; i < wanted; ++i) {
    auto made = wire_.connect_to(to.rank, FrameKind::hello_stripe, epoll_);
    if (!made) {
      to.again_ns = settings_.now() + kAgain;
      if (to.alive(true, false) == 0 && to.wanted()) to.silence.note_down(0, settings_.now(), wire_.timeout_ns());
      return;
    }
    shape(made->socket(), to.near);
    const Connection* const connection = made.get();
    by_connection_[connection] = &to.stripes.emplace_back(to, std::move(made), true, settings_.now());
  }
}

void StripePool::adopt(StripePeer& from, std::unique_ptr<Connection> connection) {
  connection->watched_by(epoll_);
  connection->open = true;
  wire_.greet(*connection, from.failed ? FrameKind::stripe_refused : FrameKind::hello_ack);
  const Connection* const key = connection.get();
  by_connection_[key] = &from.stripes.emplace_back(from, std::move(connection), false, 0);
  from.silence.down_since_ns.reset();
}

// --- given up --------------------------------------------------------------------------------------------------------

void StripePool::end(Stripe& stripe) {
  std::erase(to_acknowledge_, &stripe);
  by_connection_.erase(stripe.connection.get());
  stripe.connection->end();
  closed_.push_back(std::move(stripe.connection));
}

void StripePool::lose(Stripe& stripe) {
  StripePeer& of = stripe.peer;
  const int code = stripe.connection->error();
  const bool out = stripe.out;
  const std::uint64_t silence_ns = stripe.silence_ns;
  if (out && of.wanted()) ++of.traffic.lost;
  const PiecesUnderWay& given = stripe.given;
  if (given.busy && !given.pieces.empty()) --given.pieces.back().message->queued;
  for (const auto& [message, offset, bytes] : given.pieces) of.outgoing.give_again(*message, {offset, bytes});
  of.untold = of.untold || stripe.acknowledgements.telling;
  end(stripe);
  of.stripes.remove_if([&](const Stripe& one) { return &one == &stripe; });
  if (of.failed || !of.wanted()) return;
  if (out) of.again_ns = settings_.now() + kAgain;
  if (out ? of.alive(true, true) == 0 : of.stripes.empty()) {
    // The kernel's own questions to an idle node take the timeout.
    if (!of.silence.down_since_ns) of.again_ns = 0;
    of.silence.note_down(code == ETIMEDOUT ? wire_.timeout_ns() : silence_ns, settings_.now(), wire_.timeout_ns());
    // Nobody listens there any more: the process has ended.
    if (code == ECONNREFUSED) return fail(of);
  }
  if (of.stripes.empty()) open(of);
}

void StripePool::close(StripePeer& peer) {
  for (Stripe& stripe : peer.stripes) end(stripe);
  peer.stripes.clear();
}

void StripePool::fail(StripePeer& peer, bool refused) {
  const bool wanted = peer.wanted();
  peer.failed = true;
  peer.untold = false;
  periods_.stop();
  for (const OutgoingMessage& message : peer.outgoing.open) {
    if (message.waiter.queue != nullptr) message.waiter.complete(failure_);
  }
  for (const auto& [key, incoming] : peer.incoming.open) {
    if (incoming.posted()) incoming.waiter.complete(failure_);
  }
  peer.outgoing.waiting.clear();
  peer.outgoing.backlog = 0;
  close(peer);
  peer.outgoing.open.clear();
  peer.incoming.open.clear();
  counts_.note_awaited(peer);
  if (wanted && refused) {
    log::error("rank %d takes no more messages of this rank: it had lost all connections to it", peer.rank);
  } else if (wanted) {
    log::error("lost all connections to rank %d: its process has ended, or its node has not answered for %llu s",
               peer.rank, static_cast<unsigned long long>(wire_.timeout_ns() / 1'000'000'000));
  }
}

// --- acknowledgements ------------------------------------------------------------------------------------------------

void StripePool::acknowledge() {
  for (Stripe* stripe : std::exchange(to_acknowledge_, {})) {
    Acknowledgements& owed = stripe->acknowledgements;
    if (stripe->connection->broken() || owed.told == owed.come) continue;
    owed.told = owed.come;
    owed.telling = true;
    stripe->connection->send({.frame = {.kind = FrameKind::stripe_ack, .bytes = owed.come}});
  }
}

}  // namespace urakata::transport
