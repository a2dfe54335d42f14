// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/backoff.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/clock.hpp"
#include "base/instruction_set.hpp"
#include "base/waiting.hpp"

namespace urakata::p2p {

namespace {

// Nanoseconds that one pause() takes: 10 to 60 on Intel's processors.
double pause_ns() {
  constexpr unsigned kPauses = 50;
  std::uint64_t least = UINT64_MAX;
  for (int round = 0; round < 4; ++round) {  // one may be interrupted
    const std::uint64_t begin = now_ns();
    for (unsigned i = 0; i < kPauses; ++i) pause();
    least = std::min(least, now_ns() - begin);
  }
  return static_cast<double>(std::max<std::uint64_t>(least, 1)) / kPauses;
}

}  // namespace

// Measured (bench/space, Granite Rapids, pauses of 10 ns, two ranks): half round trips of 8, 64, 256 and 4096 B take
// 121, 200, 295 and 357 ns without pauses, 124, 177, 220, 350 with four, 118, 150, 213, 308 with eight and 132, 147,
// 174, 310 with fourteen. Without, the same code takes 120 to 178 ns for 8 B, by where the compiler puts it.
unsigned pauses_between_polls() {
  constexpr double kApart = 75;  // ns
  if (!on_intel()) return 0;
  return std::max(1U, static_cast<unsigned>(std::lround(kApart / pause_ns())));
}

void Backoff::yield() { sched_yield(); }

}  // namespace urakata::p2p
