// SPDX-License-Identifier: BSD-3-Clause
// Threads of ours. What the program's threads have among themselves needs no lock against them.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <thread>

namespace urakata {

// Is this thread one of ours? Of the model that needs no call, wherever it is read.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local bool on_progress_thread = false;

// One of them. The program's signals are for the program's threads, so it has all of them blocked. On a shared core it
// has little to do each time and should be let in at once, and its naps end when they should.
//
// Thread-safety: cpu_ns() by any thread; the rest by one.
class ProgressThread {
 public:
  // `name`: at most 15 characters. Where no thread can be made a warning says that `what` advance in MPI calls only.
  ProgressThread(const std::string& name, const char* what, std::function<void()> run);
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  bool runs() const { return thread_.joinable(); }
  // Waits for its end, which the owner has asked for.
  void join();
  // CPU time so far, from the scheduler's accounting.
  std::uint64_t cpu_ns() const;

 private:
  std::thread thread_;
  std::atomic<clockid_t> clock_{0};        // 0: there is none yet, or no more
  std::atomic<std::uint64_t> used_ns_{0};  // in all; stored by the thread at its end
};

}  // namespace urakata
