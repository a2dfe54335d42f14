// SPDX-License-Identifier: BSD-3-Clause
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/wire/kept_errno.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

WirePort::WirePort(Wire& wire) : wire_(wire), readiness_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

WirePort::~WirePort() {
  if (readiness_ >= 0) close(readiness_);
}

int WirePort::send(const Message& message, Ticket ticket, bool* finished) {
  const KeptErrno kept;
  return posted(wire_.send(*this, message, ticket), 0, ticket, finished);
}

int WirePort::recv(const Message& message, Ticket ticket, bool* finished) {
  const KeptErrno kept;
  int error = 0;
  const bool there = wire_.recv(*this, message, ticket, &error);
  return posted(there, error, ticket, finished);
}

int WirePort::posted(bool done, int error, Ticket ticket, bool* finished) {
  if (finished != nullptr) {
    *finished = done;
  } else if (done) {
    wire_.put(*this, ticket, error);
    error = 0;
  }
  if (finished == nullptr || !done) ++in_flight_;
  return error;
}

std::size_t WirePort::cancel(const void* instance) {
  const KeptErrno kept;
  const std::size_t taken = wire_.cancel(instance);
  in_flight_ -= taken;
  return taken;
}

void WirePort::tell(std::int32_t peer, const Notice& notice) {
  const KeptErrno kept;
  wire_.tell(peer, notice);
}

std::span<const Completion> WirePort::poll() {
  const KeptErrno kept;
  reported_.clear();
  wire_.poll(this);
  in_flight_ -= reported_.size();
  return reported_;
}

}  // namespace urakata::transport
