// SPDX-License-Identifier: BSD-3-Clause
// Urakata's progress threads, and the flag that tells them from the program's threads. Data that only the program's
// threads share needs no lock against progress threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <thread>

namespace urakata {

// Whether the calling thread is a ProgressThread. Its TLS model needs no function call for a read in any library.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local bool on_progress_thread = false;

// A progress thread. All signals are blocked in it, since the program's signals are for the program's threads. It asks
// the kernel for short time slices, to get a shared core at once, and for a timer slack of 1 us, to end naps on time.
//
// Thread-safety: cpu_ns() by any thread; the rest by one thread.
class ProgressThread {
 public:
  // Calls run() in a new thread called `name` (at most 15 characters). If no thread can be made, runs() is false, and a
  // warning says that `what` advance in MPI calls only.
  ProgressThread(const std::string& name, const char* what, std::function<void()> run);
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  bool runs() const { return thread_.joinable(); }
  // Waits until run() has returned. The owner must have told run() to end. To be called once, if runs().
  void join();
  // CPU time of the thread so far, from the scheduler's accounting; 0: no thread could be made.
  std::uint64_t cpu_ns() const;

 private:
  std::thread thread_;
  std::atomic<clockid_t> clock_{0};        // of the thread's CPU time; 0: no thread yet, or joined
  std::atomic<std::uint64_t> used_ns_{0};  // CPU time in all; stored by the thread at its end
};

}  // namespace urakata
