// SPDX-License-Identifier: BSD-3-Clause
// An io_uring: requests in, results out. It is made without any TASKRUN flag: the kernel then starts linked requests in
// the time of the thread that submitted them, also while that thread computes and makes no system call.
//
// Thread-safety: put() and submit() by one thread at a time; take() by one thread at a time, also beside these; all
// other functions by any thread. Requests belong to the thread that called submit(), and are cancelled when it ends.
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
  // One submission has room for at least so many requests. Error: why there is no io_uring, and what an
  // administrator can do.
  static Result<std::unique_ptr<Ring>> open(unsigned requests);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  unsigned room() const { return room_; }        // requests of one submission that have room
  unsigned results() const { return results_; }  // results that have room until they are taken
  int descriptor() const;                        // readable while there are results

  enum class Kind : std::uint8_t { send, receive, read, write };
  struct Submission {
    Kind kind = Kind::send;
    bool linked = false;  // whether the next request waits until this one has succeeded
    int descriptor = -1;
    void* address = nullptr;
    std::uint32_t bytes = 0;
    std::uint64_t number = 0;  // comes back with the result
  };
  void put(const Submission& request);  // the ring must have room
  // Submits all requests that were put, in one system call. Returns how many the kernel has taken, or a negative errno.
  // If it has not taken all, the others are never run, and the ring cannot be used any more.
  int submit();

  struct Outcome {
    std::uint64_t number = 0;
    std::int32_t value = 0;  // bytes, or a negative errno
  };
  bool take(Outcome& outcome);  // false: there is no result
  // Whether there are results. Makes no system call.
  bool can_progress() const {
    return __atomic_load_n(told_, __ATOMIC_ACQUIRE) != __atomic_load_n(taken_, __ATOMIC_RELAXED);
  }

 private:
  Ring() = default;
  std::unique_ptr<io_uring> ring_;
  const unsigned* told_ = nullptr;   // number of results so far; stored by the kernel
  const unsigned* taken_ = nullptr;  // number of results taken so far
  unsigned room_ = 0;
  unsigned results_ = 0;
};

// Why this process cannot run chains, and what an administrator can do; empty: it can. Tries it out: one chain is a
// receive that waits for all of its bytes, and then a signal at a gate; another chain waits at the gate.
std::string why_no_chains();

}  // namespace urakata::chain
