// SPDX-License-Identifier: BSD-3-Clause
// Decides which segments a link loses: each with the same probability, independent of the others. The same seed loses
// the same segments.
//
// The number of segments before the next lost one is drawn from a geometric distribution, so one random number is
// needed for each lost segment, not for each segment. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <random>

namespace urakata::emulator {

class Loss {
 public:
  static constexpr std::size_t kRuns = 8;

  void set(double probability);
  void seed(std::uint64_t number);

  // Whether all of the next `count` segments will arrive.
  bool spares(std::uint32_t count) const { return probability_ <= 0 || until_lost_ >= count; }

  // Passes the next `count` segments, numbered from 0. Calls kept(first, n), in order, for each run of n segments in a
  // row that arrive.
  template <class Kept>
  void pass(std::uint32_t count, Kept&& kept) {
    std::uint32_t first = 0;
    while (probability_ > 0 && until_lost_ < count - first) {
      const auto arriving = static_cast<std::uint32_t>(until_lost_);
      if (arriving > 0) {
        end_run();
        kept(first, arriving);
      }
      lose_one();
      first += arriving + 1;
      if (first == count) return;
    }
    if (probability_ > 0) until_lost_ -= count - first;
    end_run();
    kept(first, count - first);
  }

  std::uint64_t lost() const { return lost_; }
  // Entry k counts the runs of exactly k + 1 lost segments, the last entry also longer runs. A run is counted when a
  // segment arrives after it.
  const std::array<std::uint64_t, kRuns>& runs() const { return runs_; }

 private:
  void draw();
  void lose_one();
  void end_run();

  double probability_ = 0;
  std::mt19937_64 random_{1};
  std::uint64_t until_lost_ = 0;  // segments that will arrive before the next lost one
  std::uint64_t lost_ = 0;
  std::uint64_t run_ = 0;  // segments lost since the last one that arrived
  std::array<std::uint64_t, kRuns> runs_{};
};

}  // namespace urakata::emulator
