// SPDX-License-Identifier: BSD-3-Clause
// The times of selected instances of a call site, so that ranks can be compared: which rank began last, and when all
// ranks were waiting. All ranks choose the same instances without communication, by a hash of the sequence number.
//
// Thread-safety: add() by any thread; if two threads call it at the same time, one instance is lost on this rank. all()
// once the program's calls have ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

namespace urakata::observe {

// Identifies an instance, equally on all ranks that take part: the `sequence`-th one on a communicator.
struct Identity {
  std::int32_t first = 0;    // rank in MPI_COMM_WORLD of the communicator's rank 0
  std::int32_t context = 0;  // number of the communicator, unique among those of rank `first`
  std::uint64_t sequence = 0;
  std::uint32_t ranks = 0;  // number of ranks that take part; 0: the ranks' samples cannot be matched, and
                            // ObservedInstance sets the sequence to the number of instances that have ended
};

// How much of an instance's work was done, in any unit; both 0: not known.
struct Work {
  std::uint64_t all = 0;
  std::uint64_t computing = 0;  // the part done while the program was in no call that waits
};

// Times are CLOCK_MONOTONIC in ns.
struct Sample {
  Identity identity;
  std::uint64_t begin = 0;     // of the starting call
  std::uint64_t returned = 0;  // end of the starting call
  std::uint64_t wait = 0;      // beginning of the call (MPI_Wait, MPI_Test, ...) that found the instance finished
  std::uint64_t end = 0;       // end of that call
  std::uint64_t done = 0;      // when the instance was finished, whether a call saw it or not
  std::uint64_t tests = 0;     // ns in unsuccessful MPI_Test calls
  std::uint64_t calls = 0;     // ns in all MPI calls between `returned` and `wait`, those of `tests` included
  Work work;
};

class Samples {
 public:
  // The most instances kept of a call site. When more come, about half of those kept are dropped, spread over the run.
  static constexpr std::uint32_t kMost = 64;

  Samples() : kept_(std::make_unique_for_overwrite<Sample[]>(kMost)) {}

  void add(const Sample& sample);
  std::span<const Sample> all() const { return {kept_.get(), count_}; }

 private:
  bool chosen(std::uint64_t sequence) const;

  std::atomic<bool> busy_{false};  // a thread is in add(), and alone touches the rest
  std::uint64_t mask_ = 0;         // one of mask_ + 1 instances is kept
  std::uint32_t count_ = 0;
  std::unique_ptr<Sample[]> kept_;
};

}  // namespace urakata::observe
