// In the host's place where a domain's messages all go another way, and its owner may not call the host: it carries
// nothing, and tells nobody.
#pragma once

#include "transport/transport.hpp"

namespace urakata::transport {

class NoTransport final : public Transport {
 public:
  explicit NoTransport(const Failures& failures) : failures_(failures) {}

  int send(const Message&, Ticket, bool*) override { return failures_.code; }
  int recv(const Message&, Ticket, bool*) override { return failures_.code; }
  std::span<const Completion> poll() override { return {}; }
  std::size_t in_flight() const override { return 0; }
  std::size_t cancel(const void*) override { return 0; }
  void tell(std::int32_t, const Notice&) override {}
  const Failures& failures() const override { return failures_; }

 private:
  const Failures& failures_;
};

}  // namespace urakata::transport
