// SPDX-License-Identifier: BSD-3-Clause
// The operations of a channel set that have not been reported, in the order of their starts: first those that have been
// submitted, then those that wait for that.
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
  bool has(const void* whose) const;  // whether one of them was started with `whose`
  ChainedOperation& numbered(std::size_t number) { return *operations_[number]; }

  // Appends an operation. False: no descriptor is left for a gate. Allocates only where more operations, gates or
  // buffers are needed than ever before.
  bool add(const ChainedSchedule& schedule, std::span<std::byte* const> buffers, void* whose);
  // The first operation that waits to be submitted; nullptr: none does.
  ChainedOperation* next_to_submit() const;
  // The operation that was submitted last; nullptr: the kernel has none. (Except after a failure, they end in order.)
  ChainedOperation* last() const { return last_; }
  // Whether the operation may be submitted while last(), which must not be nullptr, has not ended: last() signals its
  // end, not too many operations are submitted, and the gate `begun` can be made if needed. (IOSQE_IO_DRAIN would order
  // them, too, but io_uring's worker threads would run the later one.)
  bool may_follow(ChainedOperation& operation) const;
  void note_submitted(ChainedOperation& operation);
  // Frees the record of an operation that has ended.
  void remove(ChainedOperation& operation);
  // Marks all operations as failed. Drops those that wait to be submitted, and lets requests at gates through.
  void fail_all();

  // Calls end(operation) for each operation that is over(). `end` may remove the operation.
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
  std::size_t submitted_ = 0;    // number of submitted operations in the queue
  std::uint64_t next_turn_ = 0;  // `turn` of the next start
  std::atomic<std::size_t> in_flight_{0};
};

}  // namespace urakata::chain
