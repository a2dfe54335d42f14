// A lock between the tasks of a space. That of a task that dies passes on.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace urakata::space {

// Makes `self` the task whose pid `holder` names, once there is none or the named one is dead; waits for a living one.
// True: the one before died with the lock, and what it was doing may be half done. A signal handler may call it.
bool lock_robust(std::atomic<std::uint32_t>& holder, pid_t self);
void unlock_robust(std::atomic<std::uint32_t>& holder);

}  // namespace urakata::space
