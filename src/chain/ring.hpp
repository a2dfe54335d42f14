// SPDX-License-Identifier: BSD-3-Clause
// An io_uring: requests in, results out. Without any TASKRUN flag, so that linked requests go on in the kernel, in the
// time of the thread that submitted them, while it computes and makes no call.
//
// Thread-safety: put() and submit() by one thread at a time; take() by one thread at a time, also beside these.
// Requests belong to the thread that called submit(): they go on in its time, and are cancelled when it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"

struct io_uring;

namespace urakata::chain {

class Ring {
 public:
  // Room for so many requests in one submission, rounded up to a power of two. The error says why there is none, and
  // what an administrator can do.
  static Result<std::unique_ptr<Ring>> open(unsigned requests);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  unsigned room() const { return room_; }
  unsigned results() const { return results_; }  // so many have room
  int descriptor() const;                        // readable while there are results

  enum class Kind : std::uint8_t { send, receive, read, write };
  struct Submission {
    Kind kind = Kind::send;
    bool linked = false;  // the next request waits for this one's good end
    int descriptor = -1;
    void* address = nullptr;
    std::uint32_t bytes = 0;
    std::uint64_t number = 0;  // comes back with the result
  };
  void put(const Submission& request);
  // Hands over all that was put, in one call. What is not taken (result less than their number, or negative: an errno)
  // is never run: the ring is then of no more use.
  int submit();

  struct Outcome {
    std::uint64_t number = 0;
    std::int32_t value = 0;  // bytes, or a negative errno
  };
  bool take(Outcome& outcome);
  // Are there results? By any thread, without a call.
  bool can_progress() const {
    return __atomic_load_n(told_, __ATOMIC_ACQUIRE) != __atomic_load_n(taken_, __ATOMIC_RELAXED);
  }

 private:
  Ring() = default;
  std::unique_ptr<io_uring> ring_;
  const unsigned* told_ = nullptr;   // results so far, by the kernel
  const unsigned* taken_ = nullptr;  // of which these were taken
  unsigned room_ = 0;
  unsigned results_ = 0;
};

// Can chains be run here? Tries: a receive that waits for all of its bytes with a signal linked to it, and another
// chain that waits at that gate. Empty: they can; else why not, and what an administrator can do.
std::string why_no_chains();

}  // namespace urakata::chain
