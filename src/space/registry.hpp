// Who lives in a space: one block of memory that the keeper makes before the first task, and that every task finds.
//
// The keeper maps the block, fills one record for each task that it starts, and names the block to the task in the
// environment variable URAKATA_SPACE_AT. A pointer that one task stores here is valid as it is in every other: all have
// the same address space. The block, and whatever tasks published, stay mapped until the keeper ends, also when the
// task that made it has ended; only its owner may have reused its own memory meanwhile.
//
// Thread-safety: every atomic may be read by anybody at any time. The rest of a record is written by the keeper before
// `state` becomes `running` and is constant for that generation.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace urakata::space {

inline constexpr std::size_t kMostTasks = 256;
// "<address in hexadecimal digits>:<identity in hexadecimal digits>".
inline constexpr const char* kSpaceVariable = "URAKATA_SPACE_AT";

enum class TaskState : std::uint32_t {
  empty,     // nobody has had this slot yet
  starting,  // the keeper is making the task
  running,   // the task runs, or is about to enter its program
  ended      // it has exited or was killed
};

// One task. Two cache lines, so that what one task publishes shares no line with another.
struct alignas(128) TaskRecord {
  // Written by the keeper alone; release, after the fields that are constant for the generation.
  std::atomic<TaskState> state{TaskState::empty};
  // Grows by one each time the slot is given to a task; the first has 1.
  std::atomic<std::uint32_t> generation{0};
  // Of the running task, as the tasks themselves see it; 0 where there is none. Written before the program starts.
  std::atomic<pid_t> pid{0};
  // The rank in the job, as the launcher says before MPI_Init; -1 where it does not. Constant for the generation.
  std::int32_t rank = -1;
  // What the task offers to the others; nullptr until it does, and again when the slot is given away. Only the task
  // itself stores here: release, so that a reader who acquires sees what it points to. Not cleared when a task ends.
  std::atomic<void*> published{nullptr};
};

struct alignas(4096) Registry {
  static constexpr std::uint64_t kMagic = 0x317865'6b617475;  // changes with this layout

  std::uint64_t magic = kMagic;
  std::uint64_t identity = 0;  // random: what URAKATA_SPACE_AT names must hold the same
  pid_t keeper = 0;
  // Slots from here on have never been used. Written by the keeper; release.
  std::atomic<std::uint32_t> used{0};
  // Grows by one whenever a task ends: a waiter looks at the records of its peers again when this changes.
  std::atomic<std::uint32_t> ends{0};
  alignas(128) std::array<TaskRecord, kMostTasks> tasks;
};
static_assert(std::is_standard_layout_v<Registry> && std::atomic<void*>::is_always_lock_free);

// A task's own place.
struct Membership {
  Registry* registry;
  std::uint32_t slot;  // own index in `tasks`

  TaskRecord& own() const { return registry->tasks[slot]; }
};

// The registry and the own slot where the calling process is a task; nothing where it is not: no URAKATA_SPACE_AT, a
// forked copy of a task, or a program that a task executed (which inherits the variable, but not the space). Reads the
// environment, makes a few system calls, allocates nothing; any thread.
std::optional<Membership> join();

}  // namespace urakata::space
