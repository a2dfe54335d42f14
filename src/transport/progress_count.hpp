// SPDX-License-Identifier: BSD-3-Clause
// How far an operation is, for a report: bytes of its messages (of its copies, where it has none), each counting for
// one more; and how many of them moved while the program did not wait.
//
// Thread-safety: add() and the readers by any thread, relaxed. begin() by the thread that starts the operation, before
// any other thread knows of it. add() only after begin().
#pragma once

#include <atomic>
#include <cstdint>

namespace urakata::transport {

class ProgressCount {
 public:
  // `waiting` is not zero while the program waits (observe/profile_link.hpp), and lives as long as the process.
  void begin(const std::atomic<std::uint32_t>& waiting) {
    waiting_ = &waiting;
    waited_.store(0, std::memory_order_relaxed);
    computing_.store(0, std::memory_order_relaxed);
  }
  bool asked() const { return waiting_ != nullptr; }

  void add(std::uint64_t done) {
    (waiting_->load(std::memory_order_relaxed) != 0 ? waited_ : computing_).fetch_add(done, std::memory_order_relaxed);
  }

  std::uint64_t all() const { return waited_.load(std::memory_order_relaxed) + computing(); }
  std::uint64_t computing() const { return computing_.load(std::memory_order_relaxed); }  // of it: nobody waited

 private:
  const std::atomic<std::uint32_t>* waiting_ = nullptr;
  std::atomic<std::uint64_t> waited_{0};
  std::atomic<std::uint64_t> computing_{0};
};

}  // namespace urakata::transport
