// SPDX-License-Identifier: BSD-3-Clause
// The rings of a channel set. New operations go to the newest one. A ring that has become too small stays, since what
// it holds may not have ended.
//
// Thread-safety: under the channel set's lock, but for can_progress() and descriptor(), which any thread may call once
// open() has returned.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "base/result.hpp"
#include "chain/ring.hpp"

namespace urakata::chain {

class Rings {
 public:
  Rings() = default;
  ~Rings();
  Rings(const Rings&) = delete;
  Rings& operator=(const Rings&) = delete;

  // Makes the first ring. Once, before all else.
  Status open();

  int descriptor() const { return epoll_; }  // readable while there are results
  // Whether a result is there. Makes no system call and takes no lock.
  bool can_progress() const {
    const std::size_t count = made_.load(std::memory_order_acquire);
    return std::ranges::any_of(std::span(rings_).first(count),
                               [](const Served& one) { return one.ring->can_progress(); });
  }

  // Has the newest ring take so many requests more, with room for the results of all: the kernel must not run out of it
  // while nobody polls. Makes a larger ring if needed. After the kernel has refused one, it is asked again only with
  // `asks_again`, which the caller sets while no operation is in the kernel.
  Status make_room(std::size_t requests, bool asks_again);
  // To the newest ring, which has room.
  void put(const Ring::Submission& request) { newest().ring->put(request); }
  // Hands over what was put. The result is that of Ring::submit().
  int submit();
  // Calls take(outcome) for each request that has ended.
  template <class Take>
  void take_all(const Take& take) {
    for (Served& served : std::span(rings_).first(made_.load(std::memory_order_relaxed))) {
      Ring::Outcome outcome;
      while (served.ring->take(outcome)) {
        --served.pending;
        take(outcome);
      }
    }
  }

 private:
  // Each has twice the room of the one before it, at least: 512 to 32768 requests.
  static constexpr std::size_t kMostRings = 7;

  struct Served {
    std::unique_ptr<Ring> ring;
    std::size_t pending = 0;  // requests that were not reaped
  };

  Served& newest() { return rings_[made_.load(std::memory_order_relaxed) - 1]; }
  Status add(std::size_t requests);

  int epoll_ = -1;                        // an epoll set of the rings; constant once open() has ended
  std::array<Served, kMostRings> rings_;  // the first made_ exist, and rings_[made_ - 1] takes new operations
  std::atomic<std::size_t> made_{0};      // release and acquire: rings of which the pointers are there
  bool refused_ = false;                  // by the kernel: a larger one
};

}  // namespace urakata::chain
