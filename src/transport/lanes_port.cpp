// SPDX-License-Identifier: BSD-3-Clause
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/kept_errno.hpp"
#include "transport/lanes.hpp"

namespace urakata::transport {

LanesPort::LanesPort(Lanes& lanes) : lanes_(lanes), news_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

LanesPort::~LanesPort() {
  if (news_ >= 0) close(news_);
}

int LanesPort::send(const Message& message, Ticket ticket, bool* finished) {
  const KeptErrno kept;
  return posted(lanes_.send(*this, message, ticket), 0, ticket, finished);
}

int LanesPort::recv(const Message& message, Ticket ticket, bool* finished) {
  const KeptErrno kept;
  int error = 0;
  const bool there = lanes_.recv(*this, message, ticket, &error);
  return posted(there, error, ticket, finished);
}

int LanesPort::posted(bool done, int error, Ticket ticket, bool* finished) {
  if (finished != nullptr) {
    *finished = done;
  } else if (done) {
    lanes_.put(*this, ticket, error);
    error = 0;
  }
  if (finished == nullptr || !done) ++in_flight_;
  return error;
}

std::size_t LanesPort::cancel(const void* instance) {
  const KeptErrno kept;
  const std::size_t taken = lanes_.cancel(instance);
  in_flight_ -= taken;
  return taken;
}

void LanesPort::tell(std::int32_t peer, const Notice& notice) {
  const KeptErrno kept;
  lanes_.tell(peer, notice);
}

std::span<const Completion> LanesPort::poll() {
  const KeptErrno kept;
  reported_.clear();
  lanes_.poll(this);
  in_flight_ -= reported_.size();
  return reported_;
}

}  // namespace urakata::transport
