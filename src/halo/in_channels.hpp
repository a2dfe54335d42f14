// SPDX-License-Identifier: BSD-3-Clause
// The receiving channels of a neighbourhood channel, inside the space and between nodes, and which of them wait for the
// payload of the present exchange.
//
// A channel inside the space is an InChannel (channel.hpp). A channel between nodes has a number in FarChannels, and
// uses only `bytes` and the bounce buffers of its InChannel.
//
// Thread-safety: by one thread at a time. After setup nothing allocates. The object must keep its address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halo/arrivals.hpp"
#include "halo/bounce_memory.hpp"
#include "halo/channel.hpp"
#include "halo/channel_costs.hpp"
#include "halo/channel_end.hpp"
#include "halo/channel_places.hpp"
#include "halo/counts.hpp"

namespace urakata::halo {

class FarChannels;

class InChannels {
 public:
  // `receivers`: the peers that this rank sends bytes to, sorted. `far` may be nullptr if no end is
  // ChannelEnd::by_wire(). `port` and `far` must outlive the object.
  InChannels(p2p::Port& port, std::span<const ChannelEnd> ends, std::span<const std::uint32_t> receivers,
             const Costs& costs, FarChannels* far);
  InChannels(const InChannels&) = delete;
  InChannels& operator=(const InChannels&) = delete;
  ~InChannels() = default;

  // Chooses the ways of payloads. To be called once, before join(). `memory` outlives the object.
  void assign_bounce_buffers(BounceMemory& memory, const Costs& costs);
  Fit join(std::size_t end, const Record& record);
  // Number of channels with bytes.
  std::size_t size() const { return used_.size(); }
  // Number of ends with bytes.
  std::size_t sources() const { return sources_; }

  // Begins a new exchange, in which only ends without bytes have arrived. To be called before begin().
  void forget_arrivals() { arrivals_.begin(); }
  // Starts exchange k with elements at `to`.
  void begin(std::uint64_t k, std::byte* to, Counts& counts);
  // Takes the payloads of k that have come.
  void take(std::uint64_t k, Counts& counts);
  // Whether take() would do anything.
  bool can_progress(std::uint64_t k) const;
  // Number of channels whose payload has not arrived.
  std::size_t waiting() const { return waiting_.size(); }

  // Whether the payload of the end has been taken. `takes`: whether to take it now, if it has come.
  bool ready(std::uint64_t k, std::size_t end, bool takes, Counts& counts);
  Arrivals& arrivals() { return arrivals_; }

  // Whether a sender in the space has said that it has failed.
  bool told_of_failure() const;
  // Tells the senders in the space that this rank has failed.
  void tell_failure() const;
  // After a failure: stops waiting for senders on other nodes, for senders that have said that they have failed, and
  // for those whose payload is complete without them.
  void give_up(std::uint64_t k, Counts& counts);

  void retire() const;
  bool released() const;

 private:
  bool take(std::uint64_t k, std::uint32_t channel, Counts& counts);

  FarChannels* const far_;
  const ChannelPlaces places_;
  std::vector<InChannel> channels_;
  std::vector<std::optional<std::uint32_t>> far_number_;  // by channel: the number in FarChannels; nullopt: near
  std::vector<bool> from_far_;       // by channel: whether the sender is far, even if there are no bytes
  std::vector<Segment> given_;       // by end
  std::vector<std::uint32_t> used_;  // channels with bytes; constant
  std::size_t sources_ = 0;
  std::vector<std::uint32_t> waiting_;  // channels whose payload has not arrived; has capacity for all
  Arrivals arrivals_;
};

}  // namespace urakata::halo
