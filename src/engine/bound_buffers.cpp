// SPDX-License-Identifier: BSD-3-Clause
#include "engine/bound_buffers.hpp"

namespace urakata::engine {

namespace {
constexpr std::size_t kAlignment = 64;

std::uint64_t padded(std::uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
}  // namespace

void BoundBuffers::bind_temps(const schedule::Schedule& schedule, std::int64_t shift, std::uint64_t reach) {
  const auto temps = schedule.temps();
  if (temps.empty()) return;
  std::uint64_t total = kAlignment;
  for (const std::uint64_t bytes : temps) total += padded(bytes + reach);
  if (room_ < total) {
    temporaries_ = std::make_unique_for_overwrite<std::byte[]>(total);
    room_ = total;
  }
  const auto before = reinterpret_cast<std::uintptr_t>(temporaries_.get()) % kAlignment;
  std::byte* address = temporaries_.get() + (before != 0 ? kAlignment - before : 0);
  for (std::size_t t = 0; t < temps.size(); ++t) {
    addresses_[schedule.user_buffers() + t] = address - shift;
    address += padded(temps[t] + reach);
  }
}

}  // namespace urakata::engine
