// SPDX-License-Identifier: BSD-3-Clause
// How late deliveries are: by powers of two of microseconds, so that two readings can be subtracted.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace urakata::emulator {

class Lateness {
 public:
  static constexpr std::size_t kClasses = 21;  // the last one: half a second and more

  void add(std::uint64_t ns) {
    const auto us = static_cast<std::uint32_t>(std::min<std::uint64_t>(ns / 1000, std::uint32_t{1} << 30));
    ++counts_[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(us)), kClasses - 1)];
    sum_ns_ += ns;
    worst_ns_ = std::max(worst_ns_, ns);
  }

  // [k]: below 2^k us, and not below half of that.
  const std::array<std::uint64_t, kClasses>& counts() const { return counts_; }
  std::uint64_t sum_ns() const { return sum_ns_; }
  std::uint64_t worst_ns() const { return worst_ns_; }

 private:
  std::array<std::uint64_t, kClasses> counts_{};
  std::uint64_t sum_ns_ = 0;
  std::uint64_t worst_ns_ = 0;
};

}  // namespace urakata::emulator
