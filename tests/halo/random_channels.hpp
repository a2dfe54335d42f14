// SPDX-License-Identifier: BSD-3-Clause
// Random neighbourhoods: channels, the layouts of their elements, and the costs that decide the ways of payloads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "neighbourhood.hpp"

namespace urakata::halo::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T, std::size_t n>
  T of(const std::array<T, n>& values) {
    return values[below(n)];
  }

 private:
  std::mt19937_64 random_;
};

inline std::uint64_t draw_bytes(Dice& dice) {
  if (dice.one_in(60)) return (1 << 20) - dice.below(3);
  switch (dice.below(8)) {
    case 0:
      return 0;
    case 1:
    case 2:
      return 1 + dice.below(kInSlot + 2);
    case 3:
      return dice.of(std::array<std::uint64_t, 8>{55, 56, 57, 511, 512, 2048, 2049, 4097});
    case 4:
      return dice.below(40'000);
    default:
      return dice.below(3000);
  }
}

// Pieces of random lengths at random distances, in any order.
inline Form listed(Dice& dice, std::uint64_t bytes) {
  std::vector<std::int64_t> lengths;
  for (std::uint64_t left = bytes; left != 0;) {
    const std::uint64_t length = lengths.size() < 20 ? 1 + dice.below(left) : left;
    lengths.push_back(static_cast<std::int64_t>(length));
    left -= length;
  }
  std::vector<std::int64_t> places(lengths.size());
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[dice.below(i)]);
  std::int64_t at = 0;
  for (const std::size_t i : order) {
    places[i] = at += static_cast<std::int64_t>(dice.below(9));
    at += lengths[i];
  }
  const auto map = layout::TypeMap::hindexed(lengths, places, layout::TypeMap::bytes(1));
  return {1, std::make_shared<layout::Shape>(map), 0, static_cast<std::uint64_t>(at)};
}

inline Form draw_form(Dice& dice, std::uint64_t bytes) {
  if (bytes == 0 || dice.one_in(2)) return plain(bytes);
  if (dice.one_in(2)) return listed(dice, bytes);
  std::uint64_t block = 1 + dice.below(std::min<std::uint64_t>(bytes, 200));
  while (bytes % block != 0) --block;
  return strided(bytes / block, block, dice.below(20));
}

inline std::vector<TestChannel> draw_channels(Dice& dice, std::uint32_t ranks) {
  std::vector<TestChannel> channels;
  for (std::uint64_t left = dice.below(3 * ranks + 1); left != 0; --left) {
    const auto from = static_cast<std::uint32_t>(dice.below(ranks));
    const auto to = static_cast<std::uint32_t>(dice.below(ranks));
    for (std::uint64_t i = 0; i <= (dice.one_in(4) ? 1U : 0U); ++i) {
      const std::uint64_t bytes = draw_bytes(dice);
      channels.push_back({from, to, draw_form(dice, bytes), draw_form(dice, bytes)});
    }
    if (dice.one_in(2)) {
      const std::uint64_t bytes = draw_bytes(dice);
      channels.push_back({to, from, draw_form(dice, bytes), draw_form(dice, bytes)});
    }
  }
  return channels;
}

// `shared_most`: the same for all ranks.
inline Costs draw_costs(Dice& dice, std::uint64_t shared_most) {
  return {.pull_least = dice.of(std::array<std::uint64_t, 3>{0, 4096, UINT64_MAX}),
          .bounce_most = dice.of(std::array<std::uint64_t, 5>{0, 256, 4096, 64 << 10, UINT64_MAX}),
          .direct_least = dice.of(std::array<std::uint64_t, 4>{0, 512, 4096, UINT64_MAX}),
          .short_bounce_most = dice.of(std::array<std::uint64_t, 3>{0, 4096, UINT64_MAX}),
          .shared_most = shared_most,
          .bounce_budget = dice.of(std::array<std::uint64_t, 3>{2048, 30'000, UINT64_MAX}),
          .pieces = dice.of(std::array<p2p::PieceSizes, 3>{p2p::PieceSizes{64, 64}, {192, 1024}, {}}),
          .far_bounce_most = dice.of(std::array<std::uint64_t, 4>{0, 100, 4096, UINT64_MAX})};
}

}  // namespace urakata::halo::test
