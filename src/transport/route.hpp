// SPDX-License-Identifier: BSD-3-Clause
// Each message by the way that leads to its peer: through the host, by wire, or, to another site, over lanes.
//
// Which way it is depends on the peer alone and is the same at both ends, so the messages of two ranks stay in order.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "transport/lanes.hpp"
#include "transport/wire.hpp"

namespace urakata::transport {

class Route final : public Transport {
 public:
  // `lanes`: to those of `far`, where the wire reaches them; nullptr: there is one site. far[rank].
  Route(std::unique_ptr<Transport> host, Wire& wire, Lanes* lanes, std::vector<bool> far)
      : host_(std::move(host)), wire_(wire), port_(wire), far_(std::move(far)) {
    if (lanes != nullptr) lanes_.emplace(*lanes);
  }

  int send(const Message& message, Ticket ticket, bool* finished) override {
    return to(message.peer).send(message, ticket, finished);
  }
  int recv(const Message& message, Ticket ticket, bool* finished) override {
    return to(message.peer).recv(message, ticket, finished);
  }

  std::span<const Completion> poll() override {
    if (lanes_) return poll_all();
    if (port_.in_flight() == 0) return host_->poll();
    const auto wired = port_.poll();
    if (host_->in_flight() == 0 && !host_->listening()) return wired;
    both_.assign(wired.begin(), wired.end());
    const auto hosted = host_->poll();
    both_.insert(both_.end(), hosted.begin(), hosted.end());
    return both_;
  }

  std::size_t in_flight() const override {
    return host_->in_flight() + port_.in_flight() + (lanes_ ? lanes_->in_flight() : 0);
  }
  std::size_t cancel(const void* instance) override {
    return host_->cancel(instance) + port_.cancel(instance) + (lanes_ ? lanes_->cancel(instance) : 0);
  }
  void tell(std::int32_t peer, const Notice& notice) override {
    if (lanes_) lanes_->tell(peer, notice);
    (wire_.reaches(peer) ? static_cast<Transport&>(port_) : *host_).tell(peer, notice);
  }
  void withdraw(std::int32_t peer, std::int32_t own, std::int32_t tag) override { to(peer).withdraw(peer, own, tag); }
  bool listening() const override { return host_->listening(); }
  bool flushing() override { return lanes_ && lanes_->flushing(); }
  const Failures& failures() const override { return host_->failures(); }
  std::vector<int> news() const override {
    std::vector<int> all = port_.news();
    if (lanes_) {
      for (const int one : lanes_->news()) all.push_back(one);
    }
    return all;
  }
  Wakeup wakeup() const override { return std::min(host_->wakeup(), port_.wakeup()); }

 private:
  Transport& to(std::int32_t peer) {
    if (!wire_.reaches(peer)) return *host_;
    if (lanes_ && far_[static_cast<std::size_t>(peer)]) return *lanes_;
    return port_;
  }

  // The lanes always: others' messages may need our word.
  std::span<const Completion> poll_all() {
    const auto add = [this](std::span<const Completion> some) { both_.insert(both_.end(), some.begin(), some.end()); };
    both_.clear();
    add(lanes_->poll());
    add(port_.poll());
    if (host_->in_flight() != 0 || host_->listening()) add(host_->poll());
    return both_;
  }

  std::unique_ptr<Transport> host_;
  Wire& wire_;
  WirePort port_;
  std::optional<LanesPort> lanes_;
  const std::vector<bool> far_;
  std::vector<Completion> both_;
};

}  // namespace urakata::transport
