// SPDX-License-Identifier: BSD-3-Clause
#include "emulator/loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace urakata::emulator {

void Loss::set(double probability) {
  probability_ = probability;
  draw();
}

void Loss::seed(std::uint64_t number) {
  random_.seed(number);
  draw();
}

// By inversion: the k with (1 - p)^(k + 1) < u <= (1 - p)^k.
void Loss::draw() {
  if (probability_ <= 0) return;
  const double uniform = 1.0 - std::generate_canonical<double, 53>(random_);  // in (0, 1]
  const double gap = probability_ < 1 ? std::floor(std::log(uniform) / std::log1p(-probability_)) : 0;
  constexpr double kMost = 1e18;  // fits in 64 bits
  until_lost_ = static_cast<std::uint64_t>(std::min(gap, kMost));
}

void Loss::lose_one() {
  ++lost_;
  ++run_;
  draw();
}

void Loss::end_run() {
  if (run_ == 0) return;
  ++runs_[static_cast<std::size_t>(std::min<std::uint64_t>(run_, kRuns)) - 1];
  run_ = 0;
}

}  // namespace urakata::emulator
