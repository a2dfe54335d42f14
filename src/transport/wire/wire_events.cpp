// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/wire_events.hpp"

#include <sys/epoll.h>

#include <array>
#include <utility>

#include "base/clock.hpp"

namespace urakata::transport {

namespace {

constexpr unsigned kPollsPerCheck = 64;  // polls from one reading of the clock to the next

}  // namespace

void WireEvents::poll(int set) {
  const bool served = serve(set);
  const bool checking = ++polls_ % kPollsPerCheck == 0;
  if (checking) check_connections();
  if (served || checking) {
    peers_.forget_ended();
    acceptor_.close_surplus();
  }
}

// Returns whether the epoll set had an event.
bool WireEvents::serve(int set) {
  std::array<epoll_event, 32> events;
  const int count = epoll_wait(set, events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.ptr == &acceptor_) {
      serve(acceptor_.set());
      continue;
    }
    if (event.data.ptr == nullptr) {
      acceptor_.accept_connections();
      continue;
    }
    Connection& connection = *static_cast<Connection*>(event.data.ptr);
    if ((event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0 && !connection.broken()) {
      sent_.clear();
      connection.flush(sent_);
      for (const Connection::Outgoing& out : sent_) report_sent(out);
    }
    if ((event.events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 && !connection.broken()) {
      connection.receive(*this);
      if (connection.open && connection.rank >= 0) {
        peers_.peer(connection.rank).receives.tell_progress(connection.come());
      }
    }
    peers_.lose_if_ended(connection);
  }
  return count > 0;
}

void WireEvents::check_connections() {
  const std::uint64_t now = now_ns();
  if (now < next_check_ns_) return;
  next_check_ns_ = now + connector_.timeout_ns() / 4;
  acceptor_.check();
  peers_.check();
}

// The connection has named the secret: from now on it belongs to the Wire.
void WireEvents::adopt(const Connection& accepted) {
  if (auto claimed = acceptor_.claim(accepted)) peers_.adopt(std::move(claimed));
}

std::byte* WireEvents::place(Connection& from, const Frame& frame) {
  if (!from.open) return nullptr;
  WirePeer& sender = peers_.peer(from.rank);
  return frame.kind == FrameKind::put ? puts_.place(from.rank, sender, frame) : sender.receives.place(frame);
}

bool WireEvents::arrived(Connection& from, const Frame& frame) {
  const bool secret = connector_.named_secret(frame);
  switch (frame.kind) {
    case FrameKind::hello:
      if (from.ours || from.rank >= 0 || !secret || frame.tag < 0) return false;
      adopt(from);
      return peers_.hello(from, frame.tag);
    case FrameKind::hello_ordered:
    case FrameKind::hello_bulk:
    case FrameKind::hello_stripe:
      return !from.ours && from.rank < 0 && secret && frame.tag >= 0 && acceptor_.hand_over(from, frame);
    case FrameKind::probe:
      if (from.ours || !secret) return false;
      adopt(from);
      connector_.greet(from, FrameKind::hello_ack);
      return true;
    case FrameKind::hello_ack: {
      if (!from.ours || !secret) return false;
      const auto probed = prober_.acknowledged(from, frame.tag);
      return probed ? *probed : peers_.hello_ack(from, frame.tag);
    }
    case FrameKind::cts:
      if (from.open) peers_.peer(from.rank).sends.cts_received(frame.id);
      return from.open;
    case FrameKind::notice:
      if (!from.open) return false;
      failures_.add({.from = from.rank, .origin = static_cast<std::int32_t>(frame.id), .context = frame.tag});
      return true;
    case FrameKind::rts:
      if (from.open) peers_.peer(from.rank).receives.rts_received(frame);
      return from.open;
    case FrameKind::put:
    case FrameKind::put_open:
    case FrameKind::put_ready:
    case FrameKind::put_over:
      return from.open && puts_.arrived(from.rank, peers_.peer(from.rank), frame);
    case FrameKind::message:
    case FrameKind::payload:
      if (from.open) peers_.peer(from.rank).receives.arrived(frame);
      return from.open;
    default:
      return false;
  }
}

}  // namespace urakata::transport
