// SPDX-License-Identifier: BSD-3-Clause
// Some instances of a call site in full, for what no rank can tell alone: which of them began last, and when all were
// waiting. All ranks keep the same instances, without a word between them: which are kept follows from their number.
//
// Thread-safety: add() by any thread; where two meet, one's instance is left out. all() when the calls have ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

namespace urakata::observe {

// Which instance it is, the same on all ranks that take part: the `sequence`-th on a communicator, which is named by
// its first member's world rank and by a number that this member gave to it and to no other that lives at the time.
struct Identity {
  std::int32_t first = 0;
  std::int32_t context = 0;
  std::uint64_t sequence = 0;
  std::uint32_t ranks = 0;  // that take part
};

// How much was done of an instance, in any unit; all zero: not known.
struct Work {
  std::uint64_t all = 0;
  std::uint64_t computing = 0;  // while the program did not wait
};

// Times are CLOCK_MONOTONIC in ns.
struct Sample {
  Identity identity;
  std::uint64_t begin = 0;     // of the starting call
  std::uint64_t returned = 0;  // its end
  std::uint64_t wait = 0;      // beginning of the call that found it finished
  std::uint64_t end = 0;       // of that call
  std::uint64_t done = 0;      // it was finished, whether anybody saw it or not
  std::uint64_t tests = 0;     // inside unsuccessful tests
  std::uint64_t calls = 0;     // from `returned` to `wait` inside any calls, these included
  Work work;
};

class Samples {
 public:
  static constexpr std::uint32_t kMost = 64;  // kept of a call site: half of these to all, evenly from the whole run

  Samples() : kept_(std::make_unique_for_overwrite<Sample[]>(kMost)) {}

  void add(const Sample& sample);
  std::span<const Sample> all() const { return {kept_.get(), count_}; }

 private:
  bool chosen(std::uint64_t sequence) const;

  std::atomic<bool> busy_{false};
  std::uint64_t mask_ = 0;  // one of mask_ + 1 instances is kept
  std::uint32_t count_ = 0;
  std::unique_ptr<Sample[]> kept_;
};

}  // namespace urakata::observe
