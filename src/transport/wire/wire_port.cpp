// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/wire_port.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mutex.hpp"
#include "transport/wire/kept_errno.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

WirePort::WirePort(Wire& wire) : wire_(wire), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

WirePort::~WirePort() {
  if (event_ >= 0) close(event_);
}

const Failures& WirePort::failures() const { return wire_.failures_; }

std::vector<int> WirePort::descriptors() const { return {wire_.descriptor(), event_}; }

int WirePort::send(const Message& message, Ticket ticket, bool* finished) {
  const KeptErrno kept;
  return posted(begin_send(message, ticket), 0, ticket, finished);
}

// Returns whether the message has gone. If the peer is lost, poll() reports the error.
bool WirePort::begin_send(const Message& message, const Ticket& ticket) {
  const LockGuard guard(wire_.lock_);
  WirePeer& to = wire_.peers_.peer(message.peer);
  if (!wire_.peers_.reach(message.peer, to)) {
    complete(ticket, wire_.failures_.code);
    return false;
  }
  const bool gone = to.sends.send(*this, message, ticket);
  wire_.peers_.lose_if_ended(to);
  return gone;
}

int WirePort::recv(const Message& message, Ticket ticket, bool* finished) {
  const KeptErrno kept;
  int error = 0;
  const bool there = begin_recv(message, ticket, &error);
  return posted(there, error, ticket, finished);
}

// True: it is finished already, with `*error`.
bool WirePort::begin_recv(const Message& message, const Ticket& ticket, int* error) {
  const LockGuard guard(wire_.lock_);
  WirePeer& from = wire_.peers_.peer(message.peer);
  const WireReceives::Begun begun = from.receives.recv(*this, message, ticket, error);
  if (begun == WireReceives::Begun::asked && from.pair.broken()) wire_.peers_.lose(*from.pair.get());
  return begun == WireReceives::Begun::finished;
}

int WirePort::posted(bool done, int error, Ticket ticket, bool* finished) {
  if (finished != nullptr) {
    *finished = done;
  } else if (done) {
    const LockGuard guard(wire_.lock_);
    complete(ticket, error);
    error = 0;
  }
  if (finished == nullptr || !done) ++in_flight_;
  return error;
}

void WirePort::complete(const Ticket& ticket, int error) {
  finished_.push_back({ticket, error});
  if (polling_ || told_) return;
  told_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(event_, &one, sizeof one);
}

std::size_t WirePort::cancel(const void* instance) {
  const KeptErrno kept;
  const LockGuard guard(wire_.lock_);
  const std::size_t taken = wire_.peers_.cancel(instance);
  in_flight_ -= taken;
  return taken;
}

void WirePort::tell(std::int32_t peer, const Notice& notice) {
  const KeptErrno kept;
  const LockGuard guard(wire_.lock_);
  wire_.peers_.tell(peer, notice);
}

std::span<const Completion> WirePort::poll() {
  const KeptErrno kept;
  reported_.clear();
  {
    const LockGuard guard(wire_.lock_);
    polling_ = true;
    wire_.events_.poll(wire_.epoll_);
    if (told_) {
      told_ = false;
      std::uint64_t word = 0;
      [[maybe_unused]] const auto got = read(event_, &word, sizeof word);
    }
    reported_.swap(finished_);
    polling_ = false;
  }
  in_flight_ -= reported_.size();
  return reported_;
}

}  // namespace urakata::transport
