// SPDX-License-Identifier: BSD-3-Clause
#include "space/fork_guard.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "space/address_ranges.hpp"
#include "space/maps.hpp"
#include "space/raw.hpp"
#include "space/robust_lock.hpp"

namespace urakata::space {
namespace {

constinit Membership forking_task{nullptr, 0};  // registry is nullptr in a forked copy

// Written by the thread that holds the lock Registry::forking for a fork. Any thread may read `forker`.
sigset_t signals_before;           // signal mask before the fork
std::atomic<pid_t> forker{0};      // thread id, from the beginning to the end of a fork; 0: no fork
std::vector<AddressRange> marked;  // memory that the other tasks' programs leave out of their forks

pid_t this_thread() { return static_cast<pid_t>(raw::call(SYS_gettid)); }

// Blocks all signals and returns the mask before. A handler that forks would wait for a lock that its own thread holds.
sigset_t hold_signals() {
  sigset_t all;
  sigset_t present;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &present);
  return present;
}

// Removes the marks: forks copy the other tasks' memory again, except what the tasks' programs leave out.
void unmark_others() {
  ForkMarks& marks = forking_task.registry->fork_marks;
  advise_others(forking_task, MADV_DOFORK);
  for (std::uint64_t i = 0; i < marks.count; ++i) {
    const AddressRange& one = marks.of_programs[i];
    raw::call(SYS_madvise, static_cast<long>(one.begin), static_cast<long>(one.end - one.begin), MADV_DONTFORK);
  }
  marks.set.store(false, std::memory_order_release);
}

void lock_forks() {
  Registry& registry = *forking_task.registry;
  if (!lock_robust(registry.forking, forking_task) || !registry.fork_marks.set.load(std::memory_order_acquire)) return;
  // The last holder died before it removed its marks, which are on this task's memory too.
  advise_own(forking_task, MADV_DOFORK);
  unmark_others();
}

// Reads from the kernel which memory the other tasks' programs leave out of their forks.
void find_marks_of_programs() {
  marked.clear();
  if (!forking_task.registry->fork_marks.programs_have_some.load(std::memory_order_relaxed)) return;
  const AddressRange own[] = {main_range_of(*forking_task.registry, forking_task.slot),
                              overflow_range_of(*forking_task.registry, forking_task.slot)};
  MapsLine present;
  ProcLines lines("/proc/self/smaps");
  while (const auto line = lines.next()) {
    if (const auto mapping = maps_line(*line)) {
      present = *mapping;
    } else if (line->starts_with("VmFlags:") && line->find(" dc") != std::string_view::npos &&
               std::ranges::none_of(own, [&](const AddressRange& range) {
                 return present.begin >= range.begin && present.end <= range.end;
               })) {
      marked.push_back({present.begin, present.end});
    }
  }
}

void prepare() {
  if (forking_task.registry == nullptr) return;
  const sigset_t present = hold_signals();
  lock_forks();
  signals_before = present;
  forker.store(this_thread(), std::memory_order_relaxed);
  find_marks_of_programs();
  ForkMarks& marks = forking_task.registry->fork_marks;
  marks.of_programs = marked.data();
  marks.count = marked.size();
  marks.set.store(true, std::memory_order_release);
  advise_others(forking_task, MADV_DONTFORK);
}

void in_parent() {
  if (forking_task.registry == nullptr) return;
  unmark_others();
  const sigset_t present = signals_before;
  forker.store(0, std::memory_order_relaxed);
  unlock_robust(forking_task.registry->forking);
  pthread_sigmask(SIG_SETMASK, &present, nullptr);
}

void in_child() {
  if (forking_task.registry == nullptr) return;
  forking_task.registry = nullptr;
  pthread_sigmask(SIG_SETMASK, &signals_before, nullptr);
}

}  // namespace

void leave_others_out_of_forks(const Membership& membership) {
  forking_task = membership;
  pthread_atfork(&prepare, &in_parent, &in_child);
}

long advise_for_program(void* place, std::size_t bytes, int advice) {
  const auto do_it = [&] { return raw::call(SYS_madvise, raw::word(place), static_cast<long>(bytes), advice); };
  if (advice != MADV_DONTFORK && advice != MADV_DOFORK) return do_it();
  // A forked copy of a task needs no lock. Between prepare() and in_parent() the forking thread holds the lock already.
  Registry* const registry = forking_task.registry;
  if (registry == nullptr || registry->tasks[forking_task.slot].pid.load(std::memory_order_relaxed) != getpid()) {
    return do_it();
  }
  registry->fork_marks.programs_have_some.store(true, std::memory_order_relaxed);
  if (forker.load(std::memory_order_relaxed) == this_thread()) return do_it();
  const sigset_t present = hold_signals();
  lock_forks();
  const long result = do_it();
  unlock_robust(registry->forking);
  pthread_sigmask(SIG_SETMASK, &present, nullptr);
  return result;
}

}  // namespace urakata::space
