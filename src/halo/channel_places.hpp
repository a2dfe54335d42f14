// SPDX-License-Identifier: BSD-3-Clause
// Which channel, and which of its segments, each end of a neighbourhood channel has. One object for the sending
// ends, one for the receiving ones.
//
// All ends with bytes to the same rank of the space share a channel if their payloads together have less than
// Costs::shared_most bytes, and so do all ends with bytes from the same rank. Each other end has a channel of its own.
// Both ranks of a channel decide alike, since Costs::shared_most and the sums of bytes are the same for both.
//
// Thread-safety: constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "halo/channel_end.hpp"

namespace urakata::halo {

class ChannelPlaces {
 public:
  struct Place {
    std::uint32_t channel = 0;
    std::uint32_t segment = 0;
  };

  ChannelPlaces(std::span<const ChannelEnd> ends, std::uint64_t shared_most);

  const Place& of(std::size_t end) const { return of_[end]; }
  // Number of channels.
  std::uint32_t channels() const { return channels_; }

 private:
  std::vector<Place> of_;  // by end
  std::uint32_t channels_ = 0;
};

}  // namespace urakata::halo
