// Who lives in a space: one block of memory that the daemon makes before the first task, and that every task finds.
//
// The daemon maps the block, gives one record to each task that it starts, and names the block to the task in the
// environment variable URAKATA_SPACE_AT. The block stays mapped until the daemon ends.
//
// Thread-safety: every atomic may be read by anybody at any time.
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
// "<address in hexadecimal digits>:<identity in hexadecimal digits>".
inline constexpr const char* kSpaceVariable = "URAKATA_SPACE_AT";
// Why the program runs outside of any space although it should be in one: for whoever tells the user.
inline constexpr const char* kOutsideVariable = "URAKATA_SPACE_REFUSED";

// Which job this is (job_identity()), between a urakata-exec and another one further in.
inline constexpr const char* kJobVariable = "URAKATA_JOB";

struct AddressRange {
  std::uint64_t begin;
  std::uint64_t end;
};

enum class TaskState : std::uint32_t {
  empty,    // nobody has had this slot yet
  running,  // the task runs, or is about to enter its program
  ended     // it has exited or was killed
};

struct TaskRecord {
  // Written by the daemon alone; release, read with acquire.
  std::atomic<TaskState> state{TaskState::empty};
  // Of the running task, as the tasks themselves see it; 0 where there is none. Written by the task itself before its
  // program starts, and by the daemon when it has ended; release.
  std::atomic<pid_t> pid{0};
  // How many tasks have had this slot, with the present one. Written by the daemon before the task runs.
  std::atomic<std::uint32_t> uses{0};
  // Written by the daemon before the task runs, then by the task's own threads; relaxed: each stands for itself.
  // Lowest address in use of the slot's main range, and of its overflow range (address_ranges.hpp).
  std::atomic<std::uint64_t> main_edge{0};
  std::atomic<std::uint64_t> overflow_edge{0};
  std::atomic<bool> settled{false};      // settle.hpp
  std::atomic<bool> shares_file{false};  // own_mappings.hpp
};

// A file that tasks have mapped at the same place, for good (own_mappings.hpp).
struct SharedFile {
  enum class State : std::uint32_t { none, being_written, there };

  std::atomic<State> state{State::none};
  // Before it is there, written by the task that maps it first.
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

// Which memory of other tasks the one that holds the lock leaves out of its fork (fork_guard.hpp).
struct ForkMarks {
  // Has any program of the space left memory out of its forks itself? Then its marks are looked for. By any task.
  std::atomic<bool> programs_have_some{false};
  // The others' memory has been marked, and is to be as before. Stored after the next two; release.
  std::atomic<bool> set{false};
  // What had such a mark before: memory of the task that holds the lock, which stays when it dies.
  const AddressRange* of_programs = nullptr;
  std::uint64_t count = 0;
};

struct alignas(4096) Registry {
  static constexpr std::uint64_t kMagic = 0x377865'6b617475;  // changes with this layout

  // Constant once the first task runs. Written by the daemon.
  std::uint64_t magic = kMagic;
  std::uint64_t identity = 0;  // random: what URAKATA_SPACE_AT names must hold the same
  // First address of the main ranges and of the overflow ranges of all slots; bytes of one overflow range
  // (address_ranges.hpp).
  std::uint64_t main_ranges = 0;
  std::uint64_t overflow_ranges = 0;
  std::uint64_t overflow_range_bytes = 0;

  // Number of slots that have ever been used. Written by the daemon with release, once the slot's ranges are prepared.
  std::atomic<std::uint32_t> used{0};

  // Written by any task. Locks: robust_lock.hpp.
  // Held by the task that has the kernel leave the others' memory out of its fork, or of its core dump; 0: none does.
  // The kernel notes it on the memory, for all, so one at a time.
  std::atomic<std::uint32_t> forking{0};
  std::atomic<std::uint32_t> dumping{0};
  ForkMarks fork_marks;
  SharedFile shared_file;

  std::array<TaskRecord, kMostTasks> tasks;
};
static_assert(std::is_standard_layout_v<Registry>);

struct Membership {
  Registry* registry;  // stays mapped as long as the process runs
  std::size_t slot;    // of its record
};

// Where the calling process stands in the registry of its space; nothing where it is in none: no URAKATA_SPACE_AT, a
// forked copy of a task, or a program that a task executed (which inherits the variable, but not the space). Reads the
// environment, makes a few system calls, allocates nothing; any thread.
std::optional<Membership> own_membership();

// The identity of that space.
std::optional<std::uint64_t> own_space();

}  // namespace urakata::space
