// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/start_meter.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

namespace urakata::shim {

namespace {

struct Samples {
  std::array<std::uint32_t, 1 << 16> ns{};
  std::atomic<std::uint64_t> count{0};
};
Samples& samples() {
  static auto* made = new Samples;
  return *made;
}

}  // namespace

void StartMeter::note() const {
  const std::uint64_t spent = now_ns() - begin_ - (native_ticks() - native_);
  Samples& all = samples();
  all.ns[all.count.fetch_add(1, std::memory_order_relaxed) % all.ns.size()] = static_cast<std::uint32_t>(spent);
}

StartCost start_cost() {
  Samples& all = samples();
  const std::uint64_t count = all.count.exchange(0, std::memory_order_relaxed);
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(count, all.ns.size()));
  if (n == 0) return {};
  std::vector<std::uint32_t> sorted(all.ns.begin(), all.ns.begin() + static_cast<std::ptrdiff_t>(n));
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(n / 2), sorted.end());
  return {static_cast<double>(sorted[n / 2]), count};
}

}  // namespace urakata::shim
