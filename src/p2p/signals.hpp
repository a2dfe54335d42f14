// SPDX-License-Identifier: BSD-3-Clause
// What threads of the rank may ask of an endpoint without its lock.
//
// Thread-safety: stored by the thread that holds the endpoint's lock, loaded by any thread of the rank. Relaxed:
// nothing else is read on their word without the lock. (A progress thread reads `open` before it sleeps, and the thread
// that has opened a request reads whether it sleeps: PeriodicProgress::expect() has that fence.)
#pragma once

#include <atomic>
#include <cstdint>

namespace urakata::p2p {

class Signals {
 public:
  // Whether any request is in use, and whether exactly one is.
  bool open() const { return open_.load(std::memory_order_seq_cst) != 0; }
  bool one_open() const { return open_.load(std::memory_order_relaxed) == 1; }
  void count_open(int more) {
    open_.store(open_.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(more), std::memory_order_relaxed);
  }

  // Whether a list of RequestLists may have elements.
  bool listed() const { return listed_.load(std::memory_order_relaxed); }
  void set_listed(bool listed) { listed_.store(listed, std::memory_order_relaxed); }

  // Whether many receives were posted after the last step, so that more messages are likely to follow.
  bool streaming() const { return streaming_.load(std::memory_order_relaxed); }
  void set_streaming(bool streaming) { streaming_.store(streaming, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> open_{0};  // number of requests in use
  std::atomic<bool> listed_{false};
  std::atomic<bool> streaming_{false};
};

}  // namespace urakata::p2p
