// SPDX-License-Identifier: BSD-3-Clause
#include "halo/channel_places.hpp"

#include <map>

namespace urakata::halo {

ChannelPlaces::ChannelPlaces(std::span<const ChannelEnd> ends, std::uint64_t shared_most) {
  struct Shared {
    std::uint64_t bytes = 0;
    std::uint32_t segments = 0;
    std::uint32_t channel = 0;
  };
  std::map<std::uint32_t, Shared> by_peer;
  const auto shared_with = [&](const ChannelEnd& end) -> Shared* {
    return end.near() && end.bytes() != 0 ? &by_peer[end.peer] : nullptr;
  };
  for (const ChannelEnd& end : ends) {
    if (Shared* const shared = shared_with(end)) shared->bytes += end.bytes();
  }
  of_.reserve(ends.size());
  for (const ChannelEnd& end : ends) {
    Shared* const shared = shared_with(end);
    if (shared == nullptr || shared->bytes >= shared_most) {
      of_.push_back({channels_++, 0});
      continue;
    }
    if (shared->segments == 0) shared->channel = channels_++;
    of_.push_back({shared->channel, shared->segments++});
  }
}

}  // namespace urakata::halo
