// SPDX-License-Identifier: BSD-3-Clause
// The registry of the tasks in a space: one block of memory that the space daemon and all tasks share.
//
// The daemon maps the block before the first task, and it stays mapped until the daemon ends. The daemon gives one
// record to each task that it starts, and passes the block's address to the task in the environment variable
// URAKATA_SPACE_AT.
//
// Thread-safety: any thread of the daemon and of any task may read every atomic at any time.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace urakata::space {

inline constexpr std::size_t kMostTasks = 1024;
// Variable with the registry's address and identity: two hexadecimal numbers, separated by a colon.
inline constexpr const char* kSpaceVariable = "URAKATA_SPACE_AT";
// Variable with the reason why the program runs outside any space although --space was given.
inline constexpr const char* kOutsideVariable = "URAKATA_SPACE_REFUSED";
// Variable with the job's name (job_identity()), from a urakata-exec to another one that its program starts.
inline constexpr const char* kJobVariable = "URAKATA_JOB";

struct AddressRange {
  std::uint64_t begin;
  std::uint64_t end;
};

enum class TaskState : std::uint32_t {
  empty,    // no task has had this slot yet
  running,  // the task runs, or is about to enter its program
  ended     // it has exited or was killed
};

struct TaskRecord {
  // Written by the daemon only, with release; read with acquire.
  std::atomic<TaskState> state{TaskState::empty};
  // Pid of the running task, in the tasks' pid name space; 0: none. Written by the task before its program starts, and
  // by the daemon when the task has ended; both with release. The daemon also writes 0 before it starts a task.
  std::atomic<pid_t> pid{0};
  // Number of tasks that have had this slot, the present one included. Written by the daemon before the task runs.
  std::atomic<std::uint32_t> uses{0};
  // The task's threads write the rest. The daemon sets the edges when the slot is first used, and clears the two flags
  // before each task. Relaxed: no value depends on another.
  // Address of the last claim in the slot's main range, and in its overflow range (address_ranges.hpp).
  std::atomic<std::uint64_t> main_edge{0};
  std::atomic<std::uint64_t> overflow_edge{0};
  std::atomic<bool> settled{false};      // whether settle() has been called
  std::atomic<bool> shares_file{false};  // whether a SharedFiles exists (own_mappings.hpp)

  // Makes the record ready for the next task of the slot. Called by the daemon before it sets `state`.
  void begin_use();
};

// A file that tasks have mapped at the same address, for good (own_mappings.hpp).
struct SharedFile {
  enum class State : std::uint32_t { none, being_written, there };

  std::atomic<State> state{State::none};
  // Written by the task that maps the file first, before `state` is `there`.
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

// State of a fork that leaves out the memory of other tasks (fork_guard.hpp). Written by the task that holds the lock
// Registry::forking, except for the first member.
struct ForkMarks {
  // Whether any program of the space may have left memory out of its forks itself, so that a fork has to look for its
  // marks. Written by any task.
  std::atomic<bool> programs_have_some{false};
  // Whether the other tasks' memory is marked, so that the marks have to be removed. Stored after the next two, with
  // release.
  std::atomic<bool> set{false};
  // Ranges that had such a mark before. The array is in the memory of the task that holds the lock; it stays mapped
  // when that task dies.
  const AddressRange* of_programs = nullptr;
  std::uint64_t count = 0;
};

struct alignas(4096) Registry {
  static constexpr std::uint64_t kMagic = 0x377865'6b617475;  // changes with this layout

  // Constant once the first task runs. Written by the daemon.
  std::uint64_t magic = kMagic;
  std::uint64_t identity = 0;  // random number, which URAKATA_SPACE_AT repeats
  // First address of the main ranges and of the overflow ranges of all slots; bytes of one overflow range
  // (address_ranges.hpp).
  std::uint64_t main_ranges = 0;
  std::uint64_t overflow_ranges = 0;
  std::uint64_t overflow_range_bytes = 0;

  // Number of slots that have ever been used. Written by the daemon with release, once the slot's ranges are prepared.
  std::atomic<std::uint32_t> used{0};

  // Written by any task. Locks (robust_lock.hpp) of the task that has the kernel leave the other tasks' memory out of
  // its fork, or of its core dump; 0: free. The kernel marks the memory itself, for all tasks, so only one may do it at
  // a time.
  std::atomic<std::uint32_t> forking{0};
  std::atomic<std::uint32_t> dumping{0};
  ForkMarks fork_marks;
  SharedFile shared_file;

  std::array<TaskRecord, kMostTasks> tasks;
};
static_assert(std::is_standard_layout_v<Registry>);

struct Membership {
  Registry* registry;  // stays mapped as long as the process runs
  std::size_t slot;    // index of the task's record
};

// The calling process's place in the registry of its space. nullopt: the process is in no space. It then has no
// URAKATA_SPACE_AT, or is a forked copy of a task, or a program that a task has executed: such a program inherits the
// variable, but not the space. Reads the environment, makes a few system calls, allocates nothing. Any thread.
std::optional<Membership> own_membership();

// The identity of the calling process's space; nullopt: the process is in no space. Any thread.
std::optional<std::uint64_t> own_space();

}  // namespace urakata::space
