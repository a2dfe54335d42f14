// SPDX-License-Identifier: BSD-3-Clause
// NaNs and signed zeros: ranks that combine the same operands on the same sides have the same bits. MIN and MAX depend
// on the operands and their sides alone, never on the length of the vector, the place in it, its alignment or the
// processor's instructions. Of two NaNs a sum or product takes one, and the compiler may choose differently for the
// vector's last elements; so there only the addresses change nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "reduce/reduction_kernel_table.hpp"

namespace urakata::reduce {
namespace {

std::vector<KernelTable> every_level() {
  std::vector<KernelTable> tables{kernels_baseline().table()};
#if defined(__x86_64__)
  const auto add = [&](const Kernels* level) {
    if (level != nullptr) tables.push_back(level->table());
  };
  if (__builtin_cpu_supports("avx2")) add(kernels_avx2());
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    add(kernels_avx512());
  }
#endif
  return tables;
}

// Two NaNs that differ in payload, one that differs in sign, both zeros, and numbers.
template <class T>
std::vector<T> special_values() {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const T quiet = std::numeric_limits<T>::quiet_NaN();
  Bits bits;
  std::memcpy(&bits, &quiet, sizeof bits);
  std::vector<T> values{T{0}, -T{0}, T{1}, T{-2}, std::numeric_limits<T>::infinity()};
  for (const Bits nan : {bits | 17U, bits | 42U, bits | Bits{1} << (8 * sizeof(T) - 1)}) {
    T value;
    std::memcpy(&value, &nan, sizeof nan);
    values.push_back(value);
  }
  return values;
}

// All pairs of values, several times over: the place of each pair differs from round to round.
template <class T>
void same_bits_everywhere(Op op, Type type) {
  const Reducer& reducer = *builtin(op, type);
  const auto values = special_values<T>();
  std::vector<T> left, right, expected;
  const auto tables = every_level();
  const auto apply = [&](const KernelTable& table, const void* in, void* inout, std::uint64_t count) {
    table.apply[static_cast<unsigned>(op)][static_cast<unsigned>(type)](reducer, in, inout, count);
  };
  for (int round = 0; round < 3; ++round) {
    for (const T a : values) {
      for (const T b : values) {
        left.push_back(a);
        right.push_back(b);
        T one = b;
        apply(tables.front(), &a, &one, 1);
        expected.push_back(one);
        const bool better = op == Op::min ? b < a : b > a;
        const T chosen = better ? b : a;
        if (op == Op::min || op == Op::max) {
          ASSERT_EQ(std::memcmp(&one, &chosen, sizeof one), 0) << "the left one unless the right is better";
        }
      }
    }
    left.push_back(T{1});
    right.push_back(T{1});
    T one{1};
    apply(tables.front(), &left.back(), &one, 1);
    expected.push_back(one);
  }
  const bool sides = op == Op::min || op == Op::max;
  for (std::size_t level = 0; level < tables.size(); ++level) {
    for (std::size_t begin = 0; begin < left.size(); ++begin) {
      // The operands far apart, and one right behind the other, in either order.
      const std::size_t count = left.size() - begin, bytes = count * sizeof(T);
      const std::size_t far = bytes + 4096;
      for (const auto& [in_at, inout_at] : {std::pair(std::size_t{0}, far), std::pair(std::size_t{1}, far + 8),
                                            std::pair(std::size_t{0}, bytes), std::pair(bytes + 8, std::size_t{0})}) {
        std::vector<std::byte> memory(far + bytes + 16);
        std::memcpy(memory.data() + in_at, left.data() + begin, bytes);
        std::memcpy(memory.data() + inout_at, right.data() + begin, bytes);
        apply(tables[level], memory.data() + in_at, memory.data() + inout_at, count);
        if (!sides && in_at == 0 && inout_at == far) {
          std::memcpy(expected.data() + begin, memory.data() + inout_at, bytes);
        }
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(std::memcmp(memory.data() + inout_at + i * sizeof(T), &expected[begin + i], sizeof(T)), 0)
              << "operation " << static_cast<int>(op) << ", level " << level << ", element " << i << " of " << count
              << ", at " << in_at << " and " << inout_at << ": " << left[begin + i] << " with " << right[begin + i];
        }
      }
    }
  }
}

class SpecialValues : public testing::TestWithParam<Op> {};

TEST_P(SpecialValues, AreTheSameWhereOperandsAndSidesAre) {
  same_bits_everywhere<float>(GetParam(), Type::f32);
  same_bits_everywhere<double>(GetParam(), Type::f64);
}

INSTANTIATE_TEST_SUITE_P(All, SpecialValues, testing::Values(Op::sum, Op::prod, Op::min, Op::max));

}  // namespace
}  // namespace urakata::reduce
