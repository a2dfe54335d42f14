// SPDX-License-Identifier: BSD-3-Clause
// The rings of a channel set. New operations go to the newest ring. A ring that has become too small stays, since its
// requests may not have ended.
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

  // Makes the first ring. To be called once, before all other functions. Error: why there is no io_uring.
  Status open();

  int descriptor() const { return epoll_; }  // readable while there are results
  // Whether take_all() would find a result. Makes no system call and takes no lock.
  bool can_progress() const {
    const std::size_t count = made_.load(std::memory_order_acquire);
    return std::ranges::any_of(std::span(rings_).first(count),
                               [](const Served& one) { return one.ring->can_progress(); });
  }

  // Makes sure that the newest ring has room for so many requests more, and for the results of all of its requests: the
  // kernel must not run out of room while no thread takes results. Makes a larger ring if needed. After the kernel has
  // refused one, asks it again only with `asks_again`, which the caller sets while no operation is in the kernel.
  Status make_room(std::size_t requests, bool asks_again);
  // Puts a request into the newest ring, which must have room.
  void put(const Ring::Submission& request) { newest().ring->put(request); }
  // Submits the requests that were put. Returns what Ring::submit() returns.
  int submit();
  // Calls take(outcome) for each request that has ended, in all rings.
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
  // Each ring has at least twice the room of the one before it: 512 to 32768 requests.
  static constexpr std::size_t kMostRings = 7;

  struct Served {
    std::unique_ptr<Ring> ring;
    std::size_t pending = 0;  // number of requests whose results have not been taken
  };

  Served& newest() { return rings_[made_.load(std::memory_order_relaxed) - 1]; }
  Status add(std::size_t requests);

  int epoll_ = -1;                        // an epoll set of the rings; constant once open() has ended
  std::array<Served, kMostRings> rings_;  // the first made_ exist, and rings_[made_ - 1] takes new operations
  std::atomic<std::size_t> made_{0};      // number of rings; stored (release) after the ring's pointer
  bool refused_ = false;                  // whether the kernel has refused the last ring that was asked for
};

}  // namespace urakata::chain
