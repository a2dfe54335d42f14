// SPDX-License-Identifier: BSD-3-Clause
#include "base/progress_thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <system_error>
#include <utility>

#include "base/node_warnings.hpp"

namespace urakata {

namespace {

// Asks for short time slices, by which the calling thread gets an early deadline (Linux 6.12 and later). Other kernels
// refuse or ignore this, and the thread waits for its turn.
void short_slices() {
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } attributes{};
  // All other attributes, niceness above all, stay as they are.
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0U) != 0 || attributes.policy != SCHED_OTHER)
    return;
  attributes.size = sizeof attributes;
  attributes.runtime = 100'000;  // ns, the shortest that the kernel takes
  syscall(SYS_sched_setattr, 0, &attributes, 0U);
}

std::uint64_t nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

ProgressThread::ProgressThread(const std::string& name, const char* what, std::function<void()> run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this, run = std::move(run)] {
      on_progress_thread = true;
      prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // ns, instead of 50 us
      short_slices();
      run();
      timespec used{};
      if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0)
        used_ns_.store(nanoseconds(used), std::memory_order_relaxed);
    });
    clockid_t clock{};
    if (pthread_getcpuclockid(thread_.native_handle(), &clock) == 0) clock_.store(clock, std::memory_order_relaxed);
    pthread_setname_np(thread_.native_handle(), name.c_str());
  } catch (const std::system_error& error) {
    log::warning_of_node("no progress thread, so %s advance in MPI calls only: %s", what, error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ProgressThread::join() {
  thread_.join();
  clock_.store(0, std::memory_order_relaxed);
}

std::uint64_t ProgressThread::cpu_ns() const {
  const clockid_t clock = clock_.load(std::memory_order_relaxed);
  timespec used{};
  if (clock == 0 || clock_gettime(clock, &used) != 0) return used_ns_.load(std::memory_order_relaxed);
  return nanoseconds(used);
}

}  // namespace urakata
