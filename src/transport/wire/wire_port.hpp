// SPDX-License-Identifier: BSD-3-Clause
// One progress domain's transport through a Wire.
//
// Thread-safety: as a Transport, used by the domain's owner, one thread at a time. A message of this port may be
// finished by any thread, which holds the Wire's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/transport.hpp"

namespace urakata::transport {

class Wire;

class WirePort final : public Transport {
 public:
  explicit WirePort(Wire& wire);
  ~WirePort() override;
  WirePort(const WirePort&) = delete;
  WirePort& operator=(const WirePort&) = delete;

  int send(const Message& message, Ticket ticket, bool* finished) override;
  int recv(const Message& message, Ticket ticket, bool* finished) override;
  std::span<const Completion> poll() override;
  std::size_t in_flight() const override { return in_flight_; }
  std::size_t cancel(const void* instance) override;
  void tell(std::int32_t peer, const Notice& notice) override;
  const Failures& failures() const override;

  // The Wire's, and one that is readable when messages of this port were finished by another port's thread.
  std::vector<int> descriptors() const override;
  Wakeup wakeup() const override { return Wakeup::descriptors; }

  // A message of this port is finished. Under the Wire's lock, by anyone.
  void complete(const Ticket& ticket, int error);

 private:
  bool begin_send(const Message& message, const Ticket& ticket);
  bool begin_recv(const Message& message, const Ticket& ticket, int* error);
  int posted(bool done, int error, Ticket ticket, bool* finished);

  // Constant.
  Wire& wire_;
  int event_ = -1;

  // Under the Wire's lock, by anyone.
  bool polling_ = false;  // the owner polls
  bool told_ = false;     // there is a word in event_
  std::vector<Completion> finished_;

  // By the domain's owner. (poll() swaps reported_ with finished_ under the Wire's lock.)
  std::vector<Completion> reported_;
  std::size_t in_flight_ = 0;
};

}  // namespace urakata::transport
