// SPDX-License-Identifier: BSD-3-Clause
// A transport that carries nothing and tells no rank of failures. It takes the place of `native` if all messages of a
// domain go another way and the domain's owner must not call the MPI library.
#pragma once

#include "base/log.hpp"
#include "transport/transport.hpp"

namespace urakata::transport {

class NoTransport final : public Transport {
 public:
  explicit NoTransport(const Failures& failures) : failures_(failures) {}

  int send(const Message& message, Ticket, bool*) override { return refused(message); }
  int recv(const Message& message, Ticket, bool*) override { return refused(message); }
  std::span<const Completion> poll() override { return {}; }
  std::size_t in_flight() const override { return 0; }
  std::size_t cancel(const void*) override { return 0; }
  void tell(std::int32_t, const Notice&) override {}
  const Failures& failures() const override { return failures_; }

 private:
  int refused(const Message& message) const {
    log::error("nothing carries messages of a progress thread to rank %d, which must not call the MPI library",
               message.peer);
    return failures_.code;
  }

  const Failures& failures_;
};

}  // namespace urakata::transport
