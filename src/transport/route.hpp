// Each message by the way that leads to its peer: through the host, or by wire.
//
// Which way it is depends on the peer alone and is the same at both ends, so the messages of two ranks stay in order.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "transport/wire.hpp"

namespace urakata::transport {

class Route final : public Transport {
 public:
  Route(std::unique_ptr<Transport> host, Wire& wire) : host_(std::move(host)), wire_(wire), port_(wire) {}

  int send(const Message& message, Ticket ticket, bool* finished) override {
    return to(message.peer).send(message, ticket, finished);
  }
  int recv(const Message& message, Ticket ticket, bool* finished) override {
    return to(message.peer).recv(message, ticket, finished);
  }

  std::span<const Completion> poll() override {
    if (port_.in_flight() == 0) return host_->poll();
    const auto wired = port_.poll();
    if (host_->in_flight() == 0) return wired;
    both_.assign(wired.begin(), wired.end());
    const auto hosted = host_->poll();
    both_.insert(both_.end(), hosted.begin(), hosted.end());
    return both_;
  }

  std::size_t in_flight() const override { return host_->in_flight() + port_.in_flight(); }
  std::size_t cancel(const void* instance) override { return host_->cancel(instance) + port_.cancel(instance); }
  void tell(std::int32_t peer, const Notice& notice) override { to(peer).tell(peer, notice); }
  const Failures& failures() const override { return host_->failures(); }
  std::vector<int> news() const override { return port_.news(); }
  Wakeup wakeup() const override { return std::min(host_->wakeup(), port_.wakeup()); }

 private:
  Transport& to(std::int32_t peer) { return wire_.reaches(peer) ? static_cast<Transport&>(port_) : *host_; }

  std::unique_ptr<Transport> host_;
  Wire& wire_;
  WirePort port_;
  std::vector<Completion> both_;
};

}  // namespace urakata::transport
