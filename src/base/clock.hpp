// SPDX-License-Identifier: BSD-3-Clause
// The one clock: nanoseconds that only grow, equal for all threads of a node, origin unspecified. About 25 ns a call.
#pragma once

#include <cstdint>
#include <ctime>

namespace urakata {

inline std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

// The same to some milliseconds, for a few nanoseconds.
inline std::uint64_t coarse_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace urakata
