// SPDX-License-Identifier: BSD-3-Clause
// What a process inherits over exec besides its descriptors, arguments and environment. The proxy process reads these
// attributes of its own, and the task sets them for itself.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <type_traits>

#include "base/cpu_set.hpp"

namespace urakata::space {

enum class ProcessGroup : std::uint32_t {
  own,      // the task has a group of its own, in the space daemon's session
  session,  // the task has a session of its own, since the proxy leads a session too (Hydra starts ranks so)
  shared    // the task is in the proxy's group, which is in the foreground of a terminal
};

// Scheduling, disk and memory policy of a process, in the kernel's numbers.
struct Preference {
  std::int32_t scheduler = 0;  // SCHED_*
  std::int32_t priority = 0;   // for the real-time schedulers
  std::int32_t disk = 0;       // class and level of ionice
  std::int32_t memory = 0;     // MPOL_* with its flags
  std::array<std::uint64_t, 16> memory_nodes{};

  bool operator==(const Preference&) const = default;
};

// The policies of the calling process. Makes raw system calls only. A value that the kernel does not tell stays at its
// default.
Preference own_preference();
// Sets the policies of the calling process. Returns 0, or minus the kernel's error number; earlier policies are then
// set already. Makes raw system calls only.
long set_preference(const Preference& wanted);

// Sent as bytes from the proxy process to the space daemon: both are of one build.
struct Attributes {
  std::array<rlimit, RLIM_NLIMITS> limits{};
  std::array<std::uint64_t, CpuSet::kLimit / 64> cpus{};
  std::uint64_t blocked = 0;  // blocked signals: signal n is bit n - 1
  std::uint64_t ignored = 0;  // ignored signals, as `blocked`
  mode_t umask = 0;
  std::int32_t nice = 0;
  Preference preference;
  ProcessGroup process_group = ProcessGroup::own;
  pid_t shared_group = 0;         // the proxy's process group; 0: the group is not shared
  std::int32_t local_ranks = -1;  // number of the job's ranks on this node, as the launcher says; -1: unknown
};
static_assert(std::is_trivially_copyable_v<Attributes>);

// The attributes of the calling process. `blocked`: the signal mask before the process blocked the signals that it
// passes on. Changes the umask for a moment, so no other thread may create files meanwhile.
Attributes own_attributes(std::uint64_t blocked);

}  // namespace urakata::space
