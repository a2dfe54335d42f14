// SPDX-License-Identifier: BSD-3-Clause
#include "shim/process/copying_costs.hpp"

#include <algorithm>

#include "base/instruction_set.hpp"
#include "base/options/options.hpp"
#include "tune/costs.hpp"

namespace urakata::shim {

namespace {

constexpr std::uint64_t whole(double value) { return static_cast<std::uint64_t>(value); }

constexpr p2p::PieceSizes piece_sizes(const tune::CopyCosts& costs) {
  const auto lines = [](double bytes) { return static_cast<std::uint32_t>(whole(bytes) / p2p::kLine * p2p::kLine); };
  return {.least = lines(costs.piece_least), .most = std::max(lines(costs.piece_least), lines(costs.piece_most))};
}

constexpr p2p::CopyingSettings copying_settings(const tune::CopyCosts& costs) {
  const auto small = [](double value) { return static_cast<std::uint32_t>(value); };
  return {.crowded = static_cast<std::uint16_t>(costs.crowded),
          .loose = small(costs.loose),
          .pack_below = whole(costs.pack_below),
          .share_from = whole(costs.share_from),
          .share_plain_from = whole(costs.share_plain_from),
          .short_block = small(costs.short_block),
          .exchange_most = whole(costs.exchange_most),
          .exchange_block = small(costs.exchange_block),
          .set_aside_most = whole(costs.set_aside_most),
          .pieces = piece_sizes(costs)};
}
static_assert(copying_settings(tune::CopyCosts{}) == p2p::CopyingSettings{}, "the same defaults");

constexpr halo::Costs channel_costs(const tune::Costs& costs) {
  return {.pull_least = whole(costs.channel.pull_least),
          .bounce_most = whole(costs.channel.bounce_most),
          .direct_least = whole(costs.channel.direct_least),
          .short_bounce_most = whole(costs.channel.short_bounce_most),
          .shared_most = whole(costs.channel.shared_most),
          .bounce_budget = whole(costs.channel.bounce_budget),
          .pieces = piece_sizes(costs.copy),
          .far_bounce_most = whole(costs.channel.far_bounce_most)};
}
static_assert(channel_costs(tune::Costs{}) == halo::Costs{}, "the same defaults");

}  // namespace

p2p::CopyingSettings own_copying() {
  p2p::CopyingSettings settings = copying_settings(tune::costs().copy);
  if (!fast_strings()) settings.exchange_most = 0;  // copying aside in an exchange pays with these instructions only
  switch (options().space_copy) {
    case CopyingWish::receiver:
      settings.always = p2p::Copying::receiver;
      break;
    case CopyingWish::sender:
      settings.always = p2p::Copying::sender;
      break;
    case CopyingWish::both:
      settings.always = p2p::Copying::both;
      break;
    case CopyingWish::automatic:
      break;
  }
  return settings;
}

halo::Costs exchange_costs(std::uint64_t bounce_bytes) {
  halo::Costs costs = channel_costs(tune::costs());
  const std::uint64_t most = whole(tune::costs().channel.bounce_total);
  costs.bounce_budget = std::min(costs.bounce_budget, most - std::min(most, bounce_bytes));
  return costs;
}

}  // namespace urakata::shim
