// SPDX-License-Identifier: BSD-3-Clause
// A histogram of how late packets are delivered, in classes of powers of two microseconds. The counts only grow, so two
// readings can be subtracted. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace urakata::emulator {

class Lateness {
 public:
  static constexpr std::size_t kClasses = 21;  // the last class: half a second and more

  void add(std::uint64_t ns) {
    const auto us = static_cast<std::uint32_t>(std::min<std::uint64_t>(ns / 1000, std::uint32_t{1} << 30));
    ++counts_[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(us)), kClasses - 1)];
    sum_ns_ += ns;
    worst_ns_ = std::max(worst_ns_, ns);
  }

  // Entry 0 counts deliveries late by less than 1 us, entry k those late by 2^(k-1) us to below 2^k us.
  const std::array<std::uint64_t, kClasses>& counts() const { return counts_; }
  std::uint64_t sum_ns() const { return sum_ns_; }
  std::uint64_t worst_ns() const { return worst_ns_; }

 private:
  std::array<std::uint64_t, kClasses> counts_{};
  std::uint64_t sum_ns_ = 0;
  std::uint64_t worst_ns_ = 0;
};

}  // namespace urakata::emulator
