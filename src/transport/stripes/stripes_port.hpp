// SPDX-License-Identifier: BSD-3-Clause
// One domain's transport through the stripes.
//
// Thread-safety: by one thread at a time, the owner of the domain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/stripes/completion_queue.hpp"
#include "transport/stripes/stripes.hpp"
#include "transport/transport.hpp"

namespace urakata::transport {

class StripesPort final : public Transport {
 public:
  explicit StripesPort(Stripes& stripes) : stripes_(stripes) {}

  int send(const Message& message, Ticket ticket, bool* finished) override;
  int recv(const Message& message, Ticket ticket, bool* finished) override;
  std::span<const Completion> poll() override;
  std::size_t in_flight() const override { return in_flight_; }
  bool flushing() override { return stripes_.flushing(); }
  std::size_t cancel(const void* instance) override;
  // By all stripes of the pair; Route tells by its ordinary connection, too.
  void tell(std::int32_t peer, const Notice& notice) override;
  const Failures& failures() const override { return stripes_.failures(); }
  std::vector<int> descriptors() const override { return {stripes_.descriptor(), queue_.descriptor()}; }
  Wakeup wakeup() const override { return Wakeup::descriptors; }
  // Payload bytes that stripes have been given, or that have come, of a message to or from `peer` that is not finished;
  // 0 of another.
  std::uint64_t moved(const Ticket& ticket, std::int32_t peer, bool send) { return stripes_.moved(ticket, peer, send); }

 private:
  int posted(bool done, int error, Ticket ticket, bool* finished);

  Stripes& stripes_;
  CompletionQueue queue_;  // under the stripes' lock, by anyone

  // By the domain's owner. (poll() fills reported_ under the stripes' lock.)
  std::vector<Completion> reported_;
  std::size_t in_flight_ = 0;
};

}  // namespace urakata::transport
