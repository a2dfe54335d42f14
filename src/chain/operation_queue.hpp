// SPDX-License-Identifier: BSD-3-Clause
// The operations of a channel set that have not ended, in the order of their starts: first those that the kernel has,
// then those that wait for their submission.
//
// Thread-safety: under the channel set's lock, but for in_flight(), which any thread may call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "chain/chained_operation.hpp"

namespace urakata::chain {

class OperationQueue {
 public:
  std::size_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  bool has(const void* whose) const;
  ChainedOperation& numbered(std::size_t number) { return *operations_[number]; }

  // Appends an operation; false: no descriptor is left for a gate. Allocates only where more operations, gates or
  // buffers than ever before are needed.
  bool add(const ChainedSchedule& schedule, std::span<std::byte* const> buffers, void* whose);
  // The first of those that wait for their submission; nullptr: none does.
  ChainedOperation* next_to_submit() const;
  // The latest that was submitted; nullptr: it has ended, and with it all before it.
  ChainedOperation* last() const { return last_; }
  // May the operation be submitted behind last(), which is there, as far as their number and their gates go? (By
  // IOSQE_IO_DRAIN they would be in order in the ring, too, but io_uring's worker threads would run the later one.)
  bool may_follow(ChainedOperation& operation) const;
  void note_submitted(ChainedOperation& operation);
  // The operation has ended.
  void remove(ChainedOperation& operation);
  // All that have not ended fail: those that wait are dropped, and requests that wait at gates are let through.
  void fail_all();

  // Calls end(operation) for each of which nothing is left to come; `end` may remove it.
  template <class End>
  void for_each_over(const End& end) {
    for (const auto& operation : operations_) {
      if (operation->over()) end(*operation);
    }
  }

 private:
  ChainedOperation* free_operation(const ChainedSchedule& schedule);

  std::vector<std::unique_ptr<ChainedOperation>> operations_;  // by number
  ChainedOperation* last_ = nullptr;
  std::size_t submitted_ = 0;    // operations that the kernel has
  std::uint64_t next_turn_ = 0;  // of the next start
  std::atomic<std::size_t> in_flight_{0};
};

}  // namespace urakata::chain
