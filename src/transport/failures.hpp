// SPDX-License-Identifier: BSD-3-Clause
// What other ranks tell of operations that have failed.
//
// A rank whose operation fails tells each rank that the operation exchanges messages with. A rank that is told fails
// all its operations in progress on that communicator, and tells their peers. A waiting rank waits for a message of a
// rank that waits itself or has failed. So the notice reaches every rank that would else wait for ever.
//
// A send to a rank that will never receive it can wait for ever, and the MPI library takes no send back. So its rank
// tells the other one to throw the message away when it comes.
//
// A notice names the communicator by the numbers that teller and told have for it. The teller never uses its number
// again, so a notice that comes late cannot be taken for one about another communicator.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/mutex.hpp"

namespace urakata::transport {

struct Notice {
  std::int32_t from = 0;     // the teller's rank on the private communicator
  std::int32_t origin = 0;   // the teller's context number
  std::int32_t context = 0;  // that of the rank which is told
  static constexpr std::int32_t kNone = -1;
  std::int32_t withdrawn = kNone;  // else no operation has failed: the tag of messages to be thrown away

  friend bool operator==(const Notice&, const Notice&) = default;
};

// All notices that have come to this process, each once, in order. Thread-safety: everything by anyone.
class Failures {
 public:
  // `code`: the error code of operations that end for what another rank tells, or for a message that is lost.
  explicit Failures(int error_code) : code(error_code) {}
  const int code;

  void add(const Notice& notice) {
    const LockGuard guard(lock_);
    if (std::ranges::find(notices_, notice) != notices_.end()) return;
    notices_.push_back(notice);
    count_.store(notices_.size(), std::memory_order_release);
  }
  std::size_t count() const { return count_.load(std::memory_order_acquire); }
  // Appends to `known`, which has the first known.size() notices, all later ones.
  void read(std::vector<Notice>& known) const {
    const LockGuard guard(lock_);
    known.insert(known.end(), notices_.begin() + static_cast<std::ptrdiff_t>(known.size()), notices_.end());
  }

 private:
  mutable Mutex lock_;
  std::atomic<std::size_t> count_{0};
  std::vector<Notice> notices_ URAKATA_GUARDED_BY(lock_);
};

}  // namespace urakata::transport
