// SPDX-License-Identifier: BSD-3-Clause
#include "transport/link/wire_link.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/system_error.hpp"
#include "transport/wire/kept_errno.hpp"

namespace urakata::transport {

WireLink::WireLink(Wire& wire, const Settings& settings)
    : wire_(wire),
      settings_(settings),
      readiness_(settings_, forks_, wire.timeout_ns() / 4),
      peers_(settings_),
      reports_(readiness_),
      connections_(wire, forks_, readiness_, reports_, peers_),
      spread_(peers_, connections_, reports_),
      striped_(settings_, forks_, peers_, connections_, spread_, reports_),
      sender_(settings_, peers_, connections_, striped_, spread_, reports_),
      receiver_(wire, settings_, peers_, connections_, sender_, striped_, spread_, reports_) {}

Result<std::unique_ptr<WireLink>> WireLink::open(Wire& wire, const Settings& settings) {
  std::unique_ptr<WireLink> link(new WireLink(wire, settings));
  const LinkReadiness& readiness = link->readiness_;
  // Who connects, and those that the wire has accepted for us.
  const bool watched = readiness.descriptor() >= 0 && readiness.watch(wire.accepting(), &wire) &&
                       readiness.watch(wire.accepted_descriptor(), nullptr);
  if (watched) return link;
  return Error{std::string("cannot watch the sockets of messages between nodes: ") + std::strerror(errno) +
               "; the MPI library carries them"};
}

Status WireLink::carry_by(std::unique_ptr<LinkStripes> stripes) {
  for (const int descriptor : stripes->descriptors()) {
    if (!readiness_.watch(descriptor, stripes.get())) {
      return system_error("cannot watch the connections between sites");
    }
  }
  stripes_ = std::move(stripes);
  spread_.carry_by(*stripes_);
  striped_.carry_by(*stripes_);
  sender_.carry_by(*stripes_);
  return Nothing{};
}

bool WireLink::is_lost(LinkPeer rank) const {
  const LinkPeerState* const peer = peers_.find(rank);
  return forks_.forked() || (peer != nullptr && peer->failed);
}

void WireLink::watch(LinkPeer rank) {
  const KeptErrno kept;
  if (forks_.forked()) return;
  LinkPeerState& peer = peers_.at(rank);
  if (!peer.failed) connections_.connect(rank, peer.ordered);
}

bool WireLink::flushed() const {
  if (stripes_ && stripes_->sending()) return false;
  const auto delivered = [](const ConnectionState& state) { return !state.open || state.open->delivered(); };
  return std::ranges::all_of(peers_, [&](const auto& entry) {
    const LinkPeerState& one = entry.second;
    return one.failed || (one.held.empty() && one.leaving.empty() && delivered(one.ordered) && delivered(one.bulk));
  });
}

// --- progress --------------------------------------------------------------------------------------------------------

void WireLink::tell_sent() {
  for (const LinkTicket ticket : reports_.take_sent()) reports_.events().sent(ticket);
}

void WireLink::end(LinkPeer rank) {
  LinkPeerState& other = peers_.at(rank);
  int code = 0;
  for (const ConnectionState* state : {&other.ordered, &other.bulk}) {
    if (state->open) receiver_.receive_rest(*state->open);
    for (const auto* connection : {&state->open, &state->asked}) {
      if (code == 0 && *connection != nullptr) code = (*connection)->error();
    }
  }
  const bool wanted = !other.held.empty() || !other.leaving.empty() || !other.landings.empty() ||
                      (stripes_ && stripes_->open_with(rank));
  if (wanted || (code != 0 && !ends_expected_)) {
    log::error("lost the connection to rank %d: %s", static_cast<std::int32_t>(rank),
               code == 0 ? "it was closed there, as when its process ends" : std::strerror(code));
  }
  connections_.close(other);
  other.held.clear();
  other.leaving.clear();
  other.landings.clear();
  other.ahead = {};
  spread_.forget(other);
  if (stripes_) {
    striped_.poll();
    tell_sent();  // to other peers
    stripes_->forget(rank);
  }
  readiness_.note_lost();
  reports_.events().failed(rank);
}

void WireLink::note_sending() {
  const auto gone = [](const ConnectionState& state) { return !state.open || state.open->queue().empty(); };
  const bool by_connections = std::ranges::any_of(peers_, [&](const auto& entry) {
    const LinkPeerState& one = entry.second;
    return !one.failed && (!one.held.empty() || !one.leaving.empty() || !gone(one.ordered) || !gone(one.bulk));
  });
  readiness_.note_sending(by_connections || (stripes_ && stripes_->sending()));
}

bool WireLink::poll(Events& events) {
  if (forks_.forked()) return false;
  const KeptErrno kept;
  reports_.begin_poll(events);
  std::array<epoll_event, 32> found;
  const int count = epoll_wait(readiness_.descriptor(), found.data(), static_cast<int>(found.size()), 0);
  bool stripes_told = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& one = found[static_cast<std::size_t>(i)];
    if (stripes_ && one.data.ptr == stripes_.get()) {
      stripes_told = true;
    } else if (one.data.ptr == &wire_) {
      wire_.accept_pending();
    } else if (one.data.ptr == nullptr) {
      for (Wire::Accepted& made : wire_.accepted()) {
        const LinkPeer from{made.connection->rank};
        if (connections_.adopt(std::move(made))) sender_.push(from);
      }
    } else {
      receiver_.serve(*static_cast<Connection*>(one.data.ptr), one.events);
    }
  }
  if (readiness_.check_due()) connections_.check();
  const bool more = readiness_.take_more();
  const bool moved = count > 0 || more;
  for (const LinkPeer rank : reports_.take_unfinished()) sender_.push(rank);
  if (stripes_told || (stripes_ && stripes_->any_finished())) striped_.poll();
  tell_sent();
  for (const LinkPeer rank : reports_.take_lost()) end(rank);
  connections_.forget_closed();
  reports_.end_poll();
  if (moved && sending()) note_sending();
  return moved;
}

}  // namespace urakata::transport
