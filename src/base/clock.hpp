// SPDX-License-Identifier: BSD-3-Clause
// The one clock, CLOCK_MONOTONIC in nanoseconds: it never goes back, and all processes of a node read the same time.
#pragma once

#include <cstdint>
#include <ctime>

namespace urakata {

inline std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

// As now_ns(), but cheaper, and updated only every few milliseconds.
inline std::uint64_t coarse_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace urakata
