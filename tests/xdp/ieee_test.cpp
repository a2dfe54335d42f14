// SPDX-License-Identifier: BSD-3-Clause
// Integers against the processor: the same bits, but for which NaN.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "../seed.hpp"
#include "urakata_ieee.h"

namespace {

template <class F>
struct Format;
template <>
struct Format<float> {
  using Bits = std::uint32_t;
  inline static const ura_ieee kIs = ura_binary32;
};
template <>
struct Format<double> {
  using Bits = std::uint64_t;
  inline static const ura_ieee kIs = ura_binary64;
};

// Numbers of all kinds: subnormal, near 1, tiny, at the largest exponent, anything.
template <class F>
typename Format<F>::Bits any_number(std::mt19937_64& random) {
  using Bits = typename Format<F>::Bits;
  const ura_ieee kFormat = Format<F>::kIs;
  const auto bits = static_cast<Bits>(random());
  const Bits exponents = static_cast<Bits>(ura_infinity(kFormat));
  const auto with = [&](std::uint64_t exponent) {
    return static_cast<Bits>((bits & ~exponents) | static_cast<Bits>(exponent << kFormat.fraction));
  };
  switch (random() % 6) {
    case 0:
      return with(0);
    case 1:
      return with(kFormat.top / 2 + random() % 4 - 1);
    case 2:
      return static_cast<Bits>((random() % 3) << kFormat.fraction | random() % 5);
    case 3:
      return with(kFormat.top - random() % 2);
    default:
      return bits;
  }
}

template <class F>
void compare(std::uint64_t pairs) {
  using Bits = typename Format<F>::Bits;
  const ura_ieee kFormat = Format<F>::kIs;
  const auto seed = urakata::drawn_seed();
  std::mt19937_64 random(seed);
  const auto same = [](F expected, std::uint64_t got) {
    return std::isnan(expected) ? std::isnan(std::bit_cast<F>(static_cast<Bits>(got)))
                                : std::bit_cast<Bits>(expected) == got;
  };
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const Bits a = any_number<F>(random);
    // Now and then they nearly cancel.
    const Bits b =
        i % 4 == 0 ? a ^ (Bits{1} << (8 * sizeof(Bits) - 1)) ^ static_cast<Bits>(random() % 8) : any_number<F>(random);
    const F x = std::bit_cast<F>(a);
    const F y = std::bit_cast<F>(b);
    ASSERT_TRUE(same(x + y, ura_add(kFormat, a, b))) << "seed " << seed << ": " << x << " + " << y;
    ASSERT_TRUE(same(x * y, ura_mul(kFormat, a, b))) << "seed " << seed << ": " << x << " * " << y;
    ASSERT_EQ(ura_less(kFormat, a, b) != 0, x < y) << "seed " << seed << ": " << x << " < " << y;
  }
}

TEST(Ieee, SingleIsAsTheProcessorHasIt) { compare<float>(1'000'000); }
TEST(Ieee, DoubleIsAsTheProcessorHasIt) { compare<double>(1'000'000); }

}  // namespace
