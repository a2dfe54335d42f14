// SPDX-License-Identifier: BSD-3-Clause
// Each message by the way that leads to its peer: through the MPI library, by wire, or, to another site, over stripes.
//
// Which way it is depends on the peer alone and is the same at both ends, so the messages of two ranks stay in order.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "transport/stripes/stripes.hpp"
#include "transport/stripes/stripes_port.hpp"
#include "transport/wire/wire.hpp"
#include "transport/wire/wire_port.hpp"

namespace urakata::transport {

class Route final : public Transport {
 public:
  // `stripes` carries the messages to ranks with far[rank] that the wire reaches; nullptr: there is one site.
  Route(std::unique_ptr<Transport> native, Wire& wire, Stripes* stripes, std::vector<bool> far)
      : native_(std::move(native)), wire_(wire), port_(wire), far_(std::move(far)) {
    if (stripes != nullptr) stripes_.emplace(*stripes);
  }

  int send(const Message& message, Ticket ticket, bool* finished) override {
    return to(message.peer).send(message, ticket, finished);
  }
  int recv(const Message& message, Ticket ticket, bool* finished) override {
    return to(message.peer).recv(message, ticket, finished);
  }

  std::span<const Completion> poll() override {
    if (stripes_) return poll_all();
    if (port_.in_flight() == 0) return native_->poll();
    const auto wired = port_.poll();
    if (native_->in_flight() == 0 && !native_->listening()) return wired;
    both_.assign(wired.begin(), wired.end());
    const auto native = native_->poll();
    both_.insert(both_.end(), native.begin(), native.end());
    return both_;
  }

  std::size_t in_flight() const override {
    return native_->in_flight() + port_.in_flight() + (stripes_ ? stripes_->in_flight() : 0);
  }
  std::size_t cancel(const void* instance) override {
    return native_->cancel(instance) + port_.cancel(instance) + (stripes_ ? stripes_->cancel(instance) : 0);
  }
  void tell(std::int32_t peer, const Notice& notice) override {
    if (stripes_) stripes_->tell(peer, notice);
    (wire_.reaches(peer) ? static_cast<Transport&>(port_) : *native_).tell(peer, notice);
  }
  void withdraw(std::int32_t peer, std::int32_t own, std::int32_t tag) override { to(peer).withdraw(peer, own, tag); }
  bool listening() const override { return native_->listening(); }
  bool flushing() override { return stripes_ && stripes_->flushing(); }
  const Failures& failures() const override { return native_->failures(); }
  std::vector<int> descriptors() const override {
    std::vector<int> all = port_.descriptors();
    if (stripes_) {
      for (const int one : stripes_->descriptors()) all.push_back(one);
    }
    return all;
  }
  Wakeup wakeup() const override { return std::min(native_->wakeup(), port_.wakeup()); }

 private:
  Transport& to(std::int32_t peer) {
    if (!wire_.reaches(peer)) return *native_;
    if (stripes_ && far_[static_cast<std::size_t>(peer)]) return *stripes_;
    return port_;
  }

  // Polls the stripes even with nothing in flight: peers may wait for acknowledgements of this rank.
  std::span<const Completion> poll_all() {
    const auto add = [this](std::span<const Completion> some) { both_.insert(both_.end(), some.begin(), some.end()); };
    both_.clear();
    add(stripes_->poll());
    add(port_.poll());
    if (native_->in_flight() != 0 || native_->listening()) add(native_->poll());
    return both_;
  }

  std::unique_ptr<Transport> native_;
  Wire& wire_;
  WirePort port_;
  std::optional<StripesPort> stripes_;
  const std::vector<bool> far_;
  std::vector<Completion> both_;
};

}  // namespace urakata::transport
