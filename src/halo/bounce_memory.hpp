// SPDX-License-Identifier: BSD-3-Clause
// The bounce buffers of a neighbourhood channel: which receiving channels get them, and their memory.
//
// A channel without bounce buffers is pulled, put to directly, or a rendezvous (channel.hpp), or it asks
// (far_channels.hpp). The budget goes to the channels with the shortest payloads first.
//
// Thread-safety: setup only, by one thread. Senders write the memory afterwards, as channel.hpp says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "halo/channel.hpp"
#include "halo/channel_costs.hpp"

namespace urakata::halo {

// The memory of a neighbourhood channel for payloads that come before their receiver has begun the exchange.
struct BounceBuffers {
  // Bytes of bounce buffers, and of buffers for slices of elements with holes to and from other nodes. Buffers for
  // slices are always allocated; bounce buffers get the rest of the budget.
  std::uint64_t bytes = 0;
  std::uint64_t budget = 0;
  // Number of receiving ends that would need a bounce buffer and have none; among these, those beyond the budget.
  std::uint64_t without = 0;
  std::uint64_t refused = 0;
};

class BounceMemory {
 public:
  // What the choice rests on beside the channel itself.
  struct Facts {
    bool far = false;           // whether the sender is on another node
    bool short_blocks = false;  // whether the blocks of a segment are shorter than a cache line on average
    std::size_t ends = 0;       // number of ends in the channel
  };

  // Chooses the way of each channel's payloads and sets it in the channel, with its two bounce buffers if it has any.
  // facts[i] belongs to channels[i]. `reserved`: bytes of the budget that slices may take. To be called once, before
  // any channel is joined. The buffers live as long as this object.
  void assign(std::span<InChannel> channels, std::span<const Facts> facts, const Costs& costs, std::uint64_t reserved);
  // Counts the bytes of buffers for slices that have been allocated.
  void add_slices(std::uint64_t bytes) { buffers_.bytes += bytes; }

  const BounceBuffers& buffers() const { return buffers_; }

 private:
  struct alignas(kLine) Line {
    std::byte bytes[kLine];
  };

  void choose(InChannel& channel, const Facts& facts, const Costs& costs, std::uint64_t reserved);

  std::unique_ptr<Line[]> memory_;
  BounceBuffers buffers_;
};

}  // namespace urakata::halo
