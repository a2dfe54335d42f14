// SPDX-License-Identifier: BSD-3-Clause
// Worked examples of every operation, and every kernel at every length and alignment against a plain loop.
#include "reduce/reducer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "reduce/reduction_kernel_table.hpp"

namespace urakata::reduce {
namespace {

template <class T>
std::vector<T> reduced(Op op, Type type, std::vector<T> in, std::vector<T> inout) {
  const Reducer* reducer = builtin(op, type);
  EXPECT_NE(reducer, nullptr);
  if (reducer == nullptr) return {};
  EXPECT_EQ(reducer->extent, sizeof(T));
  reducer->apply(*reducer, in.data(), inout.data(), in.size());
  return inout;
}

template <class V, class I>
struct Pair {
  V value;
  I index;
  bool operator==(const Pair&) const = default;
};

TEST(Reducer, AddsAndMultiplies) {
  EXPECT_EQ(reduced<std::int32_t>(Op::sum, Type::i32, {1, -2, 3}, {10, 20, 30}),
            (std::vector<std::int32_t>{11, 18, 33}));
  EXPECT_EQ(reduced<double>(Op::prod, Type::f64, {1.5, -2}, {4, 0.5}), (std::vector<double>{6, -1}));
  EXPECT_EQ(reduced<long double>(Op::sum, Type::f80, {1.5L}, {4}), (std::vector<long double>{5.5L}));
}

TEST(Reducer, IntegersWrapAround) {
  constexpr auto kMax32 = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(reduced<std::int32_t>(Op::sum, Type::i32, {kMax32}, {1})[0], std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(reduced<std::uint16_t>(Op::prod, Type::u16, {65535}, {65535})[0], 1);
  EXPECT_EQ(reduced<std::int8_t>(Op::sum, Type::i8, {127}, {1})[0], -128);
  EXPECT_EQ(reduced<std::int64_t>(Op::prod, Type::i64, {std::numeric_limits<std::int64_t>::max()}, {2})[0], -2);
}

TEST(Reducer, MinAndMaxKnowTheSign) {
  EXPECT_EQ(reduced<std::int8_t>(Op::min, Type::i8, {-1}, {1})[0], -1);
  EXPECT_EQ(reduced<std::uint8_t>(Op::min, Type::u8, {255}, {1})[0], 1);
  EXPECT_EQ(reduced<float>(Op::max, Type::f32, {-1, 2}, {1, -2}), (std::vector<float>{1, 2}));
}

TEST(Reducer, MinAndMaxTakeTheLeftOperandWhereNothingIsBetter) {
  const double nan = std::nan("");
  EXPECT_EQ(reduced<double>(Op::max, Type::f64, {1}, {nan})[0], 1);
  EXPECT_TRUE(std::isnan(reduced<double>(Op::max, Type::f64, {nan}, {1})[0]));
  EXPECT_TRUE(std::signbit(reduced<double>(Op::max, Type::f64, {-0.0}, {0.0})[0]));
  EXPECT_FALSE(std::signbit(reduced<double>(Op::min, Type::f64, {0.0}, {-0.0})[0]));
}

TEST(Reducer, LogicalOperationsGiveZeroOrOne) {
  using V = std::vector<std::int32_t>;
  EXPECT_EQ(reduced<std::int32_t>(Op::land, Type::i32, {7, 0, 256, 0}, {2, 5, 0, 0}), (V{1, 0, 0, 0}));
  EXPECT_EQ(reduced<std::int32_t>(Op::lor, Type::i32, {7, 0, 256, 0}, {2, 5, 0, 0}), (V{1, 1, 1, 0}));
  EXPECT_EQ(reduced<std::int32_t>(Op::lxor, Type::i32, {7, 0, 256, 0}, {2, 5, 0, 0}), (V{0, 1, 1, 0}));
  using B = std::vector<std::uint8_t>;  // as the bytes of a bool, whatever they hold
  EXPECT_EQ(reduced<std::uint8_t>(Op::land, Type::boolean, {1, 2, 0}, {1, 1, 1}), (B{1, 1, 0}));
  EXPECT_EQ(reduced<std::uint8_t>(Op::lxor, Type::boolean, {1, 2, 0}, {1, 0, 0}), (B{0, 1, 0}));
}

TEST(Reducer, BitwiseOperations) {
  EXPECT_EQ(reduced<std::uint16_t>(Op::band, Type::u16, {0xff0f}, {0x0ff0})[0], 0x0f00);
  EXPECT_EQ(reduced<std::uint16_t>(Op::bor, Type::u16, {0xf000}, {0x000f})[0], 0xf00f);
  EXPECT_EQ(reduced<std::int32_t>(Op::bxor, Type::i32, {-1}, {0x0f})[0], ~0x0f);
}

TEST(Reducer, ComplexNumbers) {
  using C = std::complex<double>;
  EXPECT_EQ(reduced<C>(Op::sum, Type::c64, {{1, 2}}, {{3, 4}})[0], (C{4, 6}));
  EXPECT_EQ(reduced<C>(Op::prod, Type::c64, {{1, 2}}, {{3, 4}})[0], (C{-5, 10}));
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isinf(reduced<C>(Op::prod, Type::c64, {{infinite, infinite}}, {{1, 1}})[0].imag()));
}

TEST(Reducer, EqualValuesKeepTheLowerIndex) {
  using P = Pair<double, std::int32_t>;
  const std::vector<P> in{{1, 9}, {2, 3}, {5, 1}};
  const std::vector<P> inout{{1, 4}, {2, 7}, {4, 2}};
  EXPECT_EQ(reduced(Op::minloc, Type::f64_i32, in, inout), (std::vector<P>{{1, 4}, {2, 3}, {4, 2}}));
  EXPECT_EQ(reduced(Op::maxloc, Type::f64_i32, in, inout), (std::vector<P>{{1, 4}, {2, 3}, {5, 1}}));
  using F = Pair<float, float>;
  EXPECT_EQ(reduced<F>(Op::minloc, Type::f32_f32, {{1, 2}}, {{1, 0}})[0], (F{1, 0}));
}

TEST(Reducer, PaddingOfPairsIsLeftAlone) {
  const Reducer* reducer = builtin(Op::maxloc, Type::i16_i32);
  ASSERT_NE(reducer, nullptr);
  EXPECT_EQ(reducer->size, 6U);
  EXPECT_EQ(reducer->extent, 8U);
  unsigned char in[16] = {9, 0, 0xaa, 0xaa, 1, 0, 0, 0, 9, 0, 0xaa, 0xaa, 1, 0, 0, 0};
  unsigned char inout[16] = {3, 0, 0x55, 0x55, 2, 0, 0, 0, 99, 0, 0x55, 0x55, 2, 0, 0, 0};
  const unsigned char expected[16] = {9, 0, 0x55, 0x55, 1, 0, 0, 0, 99, 0, 0x55, 0x55, 2, 0, 0, 0};
  reducer->apply(*reducer, in, inout, 2);
  EXPECT_EQ(std::memcmp(inout, expected, sizeof expected), 0);
}

TEST(Reducer, PaddingOfLongDoublesIsLeftAlone) {
  if (std::numeric_limits<long double>::digits != 64) GTEST_SKIP() << "long double has no padding here";
  const Reducer* reducer = builtin(Op::sum, Type::f80);
  ASSERT_NE(reducer, nullptr);
  const long double one = 1;
  unsigned char inout[sizeof one];
  std::memset(inout, 0x55, sizeof inout);
  std::memcpy(inout, &one, 10);
  reducer->apply(*reducer, &one, inout, 1);
  long double result = 0;
  std::memcpy(&result, inout, 10);
  EXPECT_EQ(result, 2);
  for (std::size_t i = 10; i < sizeof inout; ++i) EXPECT_EQ(inout[i], 0x55);
}

TEST(Reducer, NothingWhereMpiDefinesNothing) {
  EXPECT_EQ(builtin(Op::band, Type::f64), nullptr);
  EXPECT_EQ(builtin(Op::land, Type::f32), nullptr);
  EXPECT_EQ(builtin(Op::min, Type::c32), nullptr);
  EXPECT_EQ(builtin(Op::sum, Type::boolean), nullptr);
  EXPECT_EQ(builtin(Op::minloc, Type::i32), nullptr);
  EXPECT_EQ(builtin(Op::sum, Type::f32_i32), nullptr);
  EXPECT_EQ(builtin(Op::sum, Type::count_), nullptr);
}

// Every kernel of every level this processor can run gives the bytes that one element at a time gives, at every length
// up to several vectors, whatever the alignment, and touches nothing beyond.
TEST(Reducer, LengthAndAlignmentChangeNothing) {
  std::mt19937 random(42);
  for (unsigned op = 0; op < kOps; ++op) {
    for (unsigned type = 0; type < kTypes; ++type) {
      const Reducer* reducer = builtin(static_cast<Op>(op), static_cast<Type>(type));
      if (reducer == nullptr) continue;
      const std::size_t extent = reducer->extent;
      std::vector<unsigned char> left(140 * extent + 16);
      std::vector<unsigned char> right(left.size());
      const bool floating = type >= static_cast<unsigned>(Type::f32) && static_cast<Type>(type) != Type::boolean;
      for (std::size_t i = 0; i < left.size(); ++i) {
        // Long doubles must not be random bits: those have invalid encodings. Small integers in disguise serve all.
        left[i] = floating ? 0 : static_cast<unsigned char>(random());
        right[i] = floating ? 0 : static_cast<unsigned char>(random());
      }
      for (const std::size_t count : {0U, 1U, 2U, 3U, 7U, 15U, 16U, 17U, 31U, 33U, 63U, 64U, 65U, 129U}) {
        for (const std::size_t skew : {0U, 1U, 3U, 8U}) {
          auto in = left;
          auto whole = right;
          if (floating) {
            auto fill = [&](std::vector<unsigned char>& bytes) {
              auto put = [&](std::size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
              for (std::size_t k = 0; k < count; ++k) {
                const std::size_t at = skew + k * extent;
                const auto number = [&] { return static_cast<int>(random() % 9) - 4; };
                switch (static_cast<Type>(type)) {
                  case Type::f32:
                    put(at, static_cast<float>(number()));
                    break;
                  case Type::f64:
                    put(at, static_cast<double>(number()));
                    break;
                  case Type::f80:
                    put(at, static_cast<long double>(number()));
                    break;
                  case Type::c32:
                  case Type::f32_f32:
                    put(at, static_cast<float>(number())), put(at + 4, static_cast<float>(number()));
                    break;
                  case Type::c64:
                  case Type::f64_f64:
                    put(at, static_cast<double>(number())), put(at + 8, static_cast<double>(number()));
                    break;
                  case Type::c80:
                    put(at, static_cast<long double>(number()));
                    put(at + sizeof(long double), static_cast<long double>(number()));
                    break;
                  case Type::f32_i32:
                    put(at, static_cast<float>(number())), put(at + 4, number());
                    break;
                  case Type::f64_i32:
                    put(at, static_cast<double>(number())), put(at + 8, number());
                    break;
                  case Type::i64_i32:
                    put(at, static_cast<std::int64_t>(number())), put(at + 8, number());
                    break;
                  case Type::i32_i32:
                    put(at, number()), put(at + 4, number());
                    break;
                  case Type::i16_i32:
                    put(at, static_cast<std::int16_t>(number())), put(at + 4, number());
                    break;
                  case Type::f80_i32:
                    put(at, static_cast<long double>(number()));
                    put(at + sizeof(long double), number());
                    break;
                  default:
                    FAIL() << "a floating type without numbers: " << type;
                }
              }
            };
            fill(in);
            fill(whole);
          }
          auto single = whole;
          const auto before = in;
          reducer->apply(*reducer, in.data() + skew, whole.data() + skew, count);
          for (std::size_t k = 0; k < count; ++k) {
            const std::size_t at = skew + k * extent;
            reducer->apply(*reducer, in.data() + at, single.data() + at, 1);
          }
          ASSERT_EQ(whole, single) << "op " << op << " type " << type << " count " << count << " skew " << skew;
          ASSERT_EQ(in, before);
        }
      }
    }
  }
}

// What a level computes must not depend on it.
TEST(Reducer, EveryLevelOfTheInstructionSetAgrees) {
  std::mt19937 random(7);
  std::vector<KernelTable> levels{kernels_baseline().table()};
#if defined(__x86_64__)
  const auto add = [&](const Kernels* level) {
    if (level != nullptr) levels.push_back(level->table());
  };
  if (__builtin_cpu_supports("avx2")) add(kernels_avx2());
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    add(kernels_avx512());
  }
#endif
  for (unsigned op = 0; op < kOps; ++op) {
    for (const Type type : {Type::i8, Type::i16, Type::i32, Type::i64, Type::u8, Type::u16, Type::u32, Type::u64,
                            Type::f32, Type::f64, Type::c32, Type::c64, Type::f32_i32, Type::f64_i32, Type::i64_i32}) {
      const Reducer* reducer = builtin(static_cast<Op>(op), type);
      if (reducer == nullptr) continue;
      std::vector<unsigned char> in(67 * reducer->extent);
      std::vector<unsigned char> inout(in.size());
      for (auto& byte : in) byte = static_cast<unsigned char>(random() & 0x3f);  // as floats: finite, with fractions
      for (auto& byte : inout) byte = static_cast<unsigned char>(random() & 0x3f);
      auto expected = inout;
      levels.front().apply[op][static_cast<unsigned>(type)](*reducer, in.data(), expected.data(), 67);
      for (const KernelTable& level : levels) {
        auto result = inout;
        level.apply[op][static_cast<unsigned>(type)](*reducer, in.data(), result.data(), 67);
        ASSERT_EQ(result, expected) << "op " << op << " type " << static_cast<unsigned>(type);
      }
    }
  }
}

}  // namespace
}  // namespace urakata::reduce
