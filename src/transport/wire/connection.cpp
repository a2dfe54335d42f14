// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/connection.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "base/socket_watch.hpp"
#include "transport/wire/tcp_facts.hpp"

namespace urakata::transport {

namespace {

constexpr std::uint64_t kMostRead = 256UL * 1024;  // in one go, so that one step does not take long
// The kernel is asked to wake us only when so many bytes have come: each packet would wake us, and those who
// compute on this core would pay for it.
constexpr std::uint64_t kGather = 64UL * 1024;
constexpr std::uint64_t kWorthGathering = 4096;
constexpr std::uint64_t kRoom = 4UL * 1024 * 1024;  // what 1 Gb/s brings while a rank is off its core for 30 ms

bool has_payload(FrameKind kind) {
  switch (kind) {
    case FrameKind::message:
    case FrameKind::payload:
    case FrameKind::eager:
    case FrameKind::eager_answered:
    case FrameKind::link_rts:
    case FrameKind::link_rts_ahead:
    case FrameKind::link_cts:
    case FrameKind::piece:
    case FrameKind::stripe_piece:
    case FrameKind::stripe_end:
    case FrameKind::put:
      return true;
    default:
      return false;
  }
}

bool later(int code) { return code == EAGAIN || code == EWOULDBLOCK || code == EINTR; }

}  // namespace

void Connection::Outgoing::keep_payload() {
  if (!packed.empty() || !has_payload(frame.kind)) return;
  packed.assign(payload, payload + frame.bytes);
  payload = packed.data();
}

Connection::Connection(int socket, int epoll, bool connecting)
    : socket_(socket), epoll_(epoll), connecting_(connecting), watching_room_(connecting) {
  SocketWatch::leave_out(socket_);
  epoll_event event = interest();
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, socket_, &event) != 0) fail(errno);
  make_room(kRoom);
}

Connection::~Connection() {
  SocketWatch::closed(socket_);
  close(socket_);
}

void Connection::make_room(std::uint64_t bytes) const {
  const int room = static_cast<int>(std::min<std::uint64_t>(bytes, std::numeric_limits<int>::max()));
  if (setsockopt(socket_, SOL_SOCKET, SO_RCVLOWAT, &room, sizeof room) != 0) return;
  setsockopt(socket_, SOL_SOCKET, SO_RCVLOWAT, &low_water_, sizeof low_water_);
}

bool Connection::fail(int code) {
  broken_ = true;
  error_ = code;
  // A socket that is broken would be ready for ever.
  epoll_ctl(epoll_, EPOLL_CTL_DEL, socket_, nullptr);
  // A peer that sends an invalid frame learns of it: the socket may stay open as long as the process lives.
  if (code == EPROTO) shutdown(socket_, SHUT_WR);
  return false;
}

epoll_event Connection::interest() {
  epoll_event event{};
  event.events = EPOLLIN | (watching_room_ ? EPOLLOUT : 0U);
  event.data.ptr = this;
  return event;
}

void Connection::watch(bool room) {
  if (room == watching_room_) return;
  watching_room_ = room;
  epoll_event event = interest();
  epoll_ctl(epoll_, EPOLL_CTL_MOD, socket_, &event);
}

void Connection::watched_by(int epoll) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, socket_, nullptr);
  epoll_ = epoll;
  epoll_event event = interest();
  if (epoll_ >= 0 && !broken_ && epoll_ctl(epoll_, EPOLL_CTL_ADD, socket_, &event) != 0) fail(errno);
}

bool Connection::delivered() const {
  int on_its_way = 0;
  return broken_ || (queue_.empty() && (ioctl(socket_, SIOCOUTQ, &on_its_way) != 0 || on_its_way == 0));
}

std::uint32_t Connection::round_trip_us() const {
  const TcpFacts facts = tcp_facts(socket_);
  return facts.least_round_trip_us != 0 ? facts.least_round_trip_us : facts.round_trip_us;
}

std::uint64_t Connection::left_to_send() const {
  std::uint64_t bytes = 0;
  for (const Outgoing& out : queue_) bytes += has_payload(out.frame.kind) ? out.frame.bytes : 0;
  const std::uint64_t gone = gone_ > sizeof(Frame) ? gone_ - sizeof(Frame) : 0;  // of the first one's payload
  return bytes - std::min(bytes, gone);
}

bool Connection::write(Outgoing& out) {
  const std::uint64_t total = sizeof(Frame) + (has_payload(out.frame.kind) ? out.frame.bytes : 0);
  while (gone_ < total) {
    std::array<iovec, 2> parts{};
    std::size_t count = 0;
    if (gone_ < sizeof(Frame)) {
      parts[count++] = {reinterpret_cast<std::byte*>(&out.frame) + gone_, sizeof(Frame) - gone_};
    }
    const std::uint64_t paid = gone_ < sizeof(Frame) ? 0 : gone_ - sizeof(Frame);
    if (total > sizeof(Frame) && sizeof(Frame) + paid < total) {
      parts[count++] = {const_cast<std::byte*>(out.payload) + paid, total - sizeof(Frame) - paid};
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t more = sendmsg(socket_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (more < 0) {
      if (!later(errno)) fail(errno);
      out.ticket.tell(paid);
      return false;
    }
    gone_ += static_cast<std::uint64_t>(more);
  }
  gone_ = 0;
  if (ours && !open) keep(out);
  return true;
}

void Connection::keep(const Outgoing& out) {
  Outgoing& copy = kept_.emplace_back(Outgoing{.frame = out.frame, .payload = out.payload});
  copy.keep_payload();
  kept_bytes_ += sizeof(Frame) + copy.packed.size();
}

void Connection::begin_again(int socket) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, socket_, nullptr);
  SocketWatch::closed(socket_);
  close_at_once(socket_);  // else its process might take it for the one that it is to answer
  close(socket_);
  socket_ = socket;
  SocketWatch::leave_out(socket_);
  connecting_ = watching_room_ = true;
  broken_ = false;
  error_ = 0;
  silent_ = 0;
  low_water_ = 1;
  gone_ = left_ = 0;
  staged_ = 0;
  queue_.insert(queue_.begin(), std::make_move_iterator(kept_.begin()), std::make_move_iterator(kept_.end()));
  kept_.clear();
  kept_bytes_ = 0;
  epoll_event event = interest();
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, socket_, &event) != 0) fail(errno);
  make_room(kRoom);
}

bool Connection::send(Outgoing&& out) {
  if (!connecting_ && !broken_ && queue_.empty() && may_write() && write(out)) return true;
  queue_.push_back(std::move(out));
  if (!broken_) watch(connecting_ || may_write());
  return false;
}

void Connection::send_soon(Outgoing&& out) {
  if (queue_.empty()) {
    send(std::move(out));
  } else {
    queue_.insert(queue_.begin() + 1, std::move(out));
  }
}

bool Connection::flush(std::vector<Outgoing>& sent) {
  if (connecting_) {
    int code = 0;
    socklen_t size = sizeof code;
    getsockopt(socket_, SOL_SOCKET, SO_ERROR, &code, &size);
    if (code != 0) return fail(code);
    connecting_ = false;
  }
  while (!queue_.empty() && may_write()) {
    if (!write(queue_.front())) break;
    if (queue_.front().reported) sent.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  if (broken_) return false;
  watch(!queue_.empty() && may_write());
  return true;
}

std::size_t Connection::take_back(const void* instance) {
  std::size_t taken = 0;
  for (auto it = queue_.begin(); it != queue_.end();) {
    if (it->port == nullptr || it->ticket.instance != instance) {
      ++it;
      continue;
    }
    ++taken;
    if (it != queue_.begin() || gone_ == 0) {
      it = queue_.erase(it);
      continue;
    }
    it->keep_payload();
    it->reported = false;
    it->port = nullptr;
    it->ticket = {};
    ++it;
  }
  return taken;
}

bool Connection::check(std::uint32_t silence_ms) {
  constexpr unsigned kNotYetOpen = 4;
  constexpr unsigned kSilent = 2;
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return true;
  // A node whose process does not read, so that there is no room for more, answers the kernel's probes.
  const bool asked = info.tcpi_retransmits != 0 || info.tcpi_probes != 0;
  const bool silent = connecting_ || (asked && info.tcpi_last_ack_recv > silence_ms);
  silent_ = silent ? silent_ + 1 : 0;
  return silent_ < (connecting_ ? kNotYetOpen : kSilent) || fail(ETIMEDOUT);
}

void Connection::wake_after(std::uint64_t bytes) {
  const int want = bytes < kWorthGathering ? 1 : static_cast<int>(std::min(bytes, kGather));
  if (want == low_water_) return;
  if (setsockopt(socket_, SOL_SOCKET, SO_RCVLOWAT, &want, sizeof want) == 0) low_water_ = want;
}

bool Connection::receive(Sink& sink) {
  if (connecting_) return true;  // an error, which flush() will find
  const bool between = left_ == 0;
  Read last = read(sink);
  // A long payload has begun: what is here of the rest is taken at once. The kernel would not tell of it before there
  // is more, which can lack room there.
  if (last == Read::some && between && left_ != 0) last = read(sink);
  if (last == Read::ended) return false;
  wake_after(left_);
  if (open && !kept_.empty()) {
    kept_.clear();
    kept_bytes_ = 0;
    watch(!queue_.empty());
  }
  return true;
}

void Connection::receive_rest(Sink& sink) {
  if (connecting_ || error_ == EPROTO) return;
  while (read(sink) == Read::some) {
  }
}

Connection::Read Connection::read(Sink& sink) {
  std::array<iovec, 2> parts{};
  std::size_t count = 0;
  const std::uint64_t direct = std::min(left_, kMostRead);
  if (direct != 0) parts[count++] = {to_, direct};
  if (direct == left_) parts[count++] = {stage_.data() + staged_, stage_.size() - staged_};
  const ssize_t got = readv(socket_, parts.data(), static_cast<int>(count));
  if (got < 0 && later(errno)) return Read::none;
  if (got <= 0) {
    fail(got == 0 ? 0 : errno);
    return Read::ended;
  }
  const std::uint64_t placed = std::min(direct, static_cast<std::uint64_t>(got));
  to_ += placed;
  left_ -= placed;
  staged_ += static_cast<std::size_t>(got) - placed;
  if ((direct != 0 && left_ == 0 && !sink.arrived(*this, frame_)) || !parse(sink)) {
    fail(EPROTO);
    return Read::ended;
  }
  return Read::some;
}

bool Connection::parse(Sink& sink) {
  std::size_t at = 0;
  while (left_ == 0 && staged_ - at >= sizeof(Frame)) {
    std::memcpy(&frame_, stage_.data() + at, sizeof(Frame));
    at += sizeof(Frame);
    if (has_payload(frame_.kind) && frame_.bytes != 0) {
      to_ = sink.place(*this, frame_);
      if (to_ == nullptr) return false;
      const std::uint64_t here = std::min<std::uint64_t>(frame_.bytes, staged_ - at);
      std::memcpy(to_, stage_.data() + at, here);
      at += here;
      to_ += here;
      left_ = frame_.bytes - here;
    }
    if (left_ == 0 && !sink.arrived(*this, frame_)) return false;
  }
  staged_ -= at;
  if (at != 0 && staged_ != 0) std::memmove(stage_.data(), stage_.data() + at, staged_);
  return true;
}

}  // namespace urakata::transport
