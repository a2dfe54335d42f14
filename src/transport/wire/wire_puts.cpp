// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/wire_puts.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/file_bytes.hpp"
#include "base/mutex.hpp"
#include "transport/wire/kept_errno.hpp"
#include "transport/wire/sockets.hpp"

namespace urakata::transport {

namespace {

// What the kernel counts as room of a socket for what is to be sent, twice what a process asks for.
std::uint64_t room_of(int socket) {
  int room = 0;
  socklen_t size = sizeof room;
  return getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &room, &size) == 0 ? static_cast<std::uint64_t>(room) : UINT64_MAX;
}

// Bytes that a process may ask for.
std::uint64_t most_room() {
  static const std::uint64_t most = [] {
    std::uint64_t read = 212'992;  // the kernel's default
    const std::string text = file_bytes("/proc/sys/net/core/wmem_max", 32);
    std::from_chars(text.data(), text.data() + text.size(), read);
    return read;
  }();
  return most;
}

// A put that the kernel does not take at once would leave only when its program comes back, and its receiver wait for
// that. A new connection has room for some ten packets and gets more as acknowledgements come; so it is given what a
// put lacked, instead of that. False: it has as much as can be had.
bool widen(const Connection& connection, std::uint64_t bytes) {
  const int socket = connection.socket();
  const std::uint64_t before = room_of(socket);
  const std::uint64_t wanted = std::min(before / 2 + bytes, most_room());
  if (wanted <= before / 2) return false;
  set_option(socket, SOL_SOCKET, SO_SNDBUF, static_cast<int>(wanted));
  return room_of(socket) > before;
}

// Likewise at the receiver: what it has no room for waits at the sender for the receiver's program. Asked for payloads
// only of which some may not fit into a new connection.
void widen_for(const Connection& connection, std::uint64_t bytes) {
  constexpr std::uint64_t kFirst = 32UL << 10;
  int present = 0;
  socklen_t size = sizeof present;
  if (bytes < kFirst || getsockopt(connection.socket(), SOL_SOCKET, SO_RCVBUF, &present, &size) != 0) return;
  if (static_cast<std::uint64_t>(present) >= 4 * bytes) return;
  connection.make_room(2 * bytes);
}

}  // namespace

std::int32_t WirePuts::add(PutSink& sink) {
  const LockGuard guard(lock_);
  return sinks_.add(sink);
}

void WirePuts::remove(std::int32_t number) {
  const LockGuard guard(lock_);
  PutSink* const sink = sinks_.find(number);
  if (sink == nullptr) return;
  peers_.abandon(*sink);
  sinks_.remove(number);
}

void WirePuts::give_up(PutSink& sink) {
  const LockGuard guard(lock_);
  peers_.abandon(sink);
}

void WirePuts::watch(std::int32_t rank, PutSink& sink) {
  const KeptErrno kept;
  const LockGuard guard(lock_);
  if (!peers_.reach(rank, peers_.peer(rank))) sink.lost(rank);
}

bool WirePuts::put(std::int32_t rank, const Frame& frame, const std::byte* payload, PutSink& from,
                   std::uint32_t channel) {
  const KeptErrno kept;
  const LockGuard guard(lock_);
  WirePeer& to = peers_.peer(rank);
  if (!peers_.reach(rank, to)) {
    from.lost(rank);
    return false;
  }
  Connection::Outgoing out{.frame = frame, .payload = payload};
  if (frame.kind == FrameKind::put) {  // the others outlive their sink
    out.reported = true;
    out.port = &from;
    out.ticket = {.instance = &from, .node = channel};
  }
  bool gone = to.pair.send(std::move(out));
  Connection* const connection = to.pair.get();
  while (!gone && frame.kind == FrameKind::put && connection != nullptr && connection->open && !connection->broken() &&
         widen(*connection, frame.bytes)) {
    std::vector<Connection::Outgoing> sent;
    connection->flush(sent);
    for (const Connection::Outgoing& one : sent) {
      const bool own = one.port == &from && one.ticket.node == channel && is_put(one.frame.kind);
      gone = gone || own;
      if (!own) report_sent(one);
    }
  }
  peers_.lose_if_ended(to);
  return gone;
}

std::byte* WirePuts::place(std::int32_t from, WirePeer& sender, const Frame& frame) {
  if (frame.bytes > kSlice) return nullptr;
  widen_for(*sender.pair.get(), frame.bytes);
  sender.current_put = sinks_.find(frame.tag);
  return sender.current_put != nullptr ? sender.current_put->place(from, frame) : sender.pair.throw_away(frame.bytes);
}

bool WirePuts::arrived(std::int32_t from, WirePeer& sender, const Frame& frame) {
  PutSink* const sink =
      frame.kind == FrameKind::put ? std::exchange(sender.current_put, nullptr) : sinks_.find(frame.tag);
  return sink == nullptr || sink->arrived(from, frame);
}

}  // namespace urakata::transport
