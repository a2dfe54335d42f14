// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/stripes_port.hpp"

#include "transport/wire/kept_errno.hpp"

namespace urakata::transport {

int StripesPort::send(const Message& message, Ticket ticket, bool* finished) {
  const KeptErrno kept;
  return posted(stripes_.send(message, {&queue_, ticket}), 0, ticket, finished);
}

int StripesPort::recv(const Message& message, Ticket ticket, bool* finished) {
  const KeptErrno kept;
  int error = 0;
  const bool there = stripes_.recv(message, {&queue_, ticket}, &error);
  return posted(there, error, ticket, finished);
}

int StripesPort::posted(bool done, int error, Ticket ticket, bool* finished) {
  if (finished != nullptr) {
    *finished = done;
  } else if (done) {
    stripes_.put({&queue_, ticket}, error);
    error = 0;
  }
  if (finished == nullptr || !done) ++in_flight_;
  return error;
}

std::size_t StripesPort::cancel(const void* instance) {
  const KeptErrno kept;
  const std::size_t taken = stripes_.cancel(instance);
  in_flight_ -= taken;
  return taken;
}

void StripesPort::tell(std::int32_t peer, const Notice& notice) {
  const KeptErrno kept;
  stripes_.tell(peer, notice);
}

std::span<const Completion> StripesPort::poll() {
  const KeptErrno kept;
  reported_.clear();
  stripes_.poll(queue_, reported_);
  in_flight_ -= reported_.size();
  return reported_;
}

}  // namespace urakata::transport
