// A lock between the tasks of a space. That of a task that dies passes on.
#pragma once

#include <atomic>
#include <cstdint>

#include "space/registry.hpp"

namespace urakata::space {

// The value of a lock that this task holds: the task's slot, and how many tasks have had that slot. Never 0, which is a
// free lock. (A pid would not do: another process may soon have it.)
std::uint32_t lock_word(const Membership& task);

// Takes the lock for the task `self`. Waits while a task that runs holds it; takes it over if the registry says that
// its holder has ended. `holder` is one of the locks in the task's registry. True: it was taken over, and what it
// protects may be half changed. A signal handler may call it.
bool lock_robust(std::atomic<std::uint32_t>& holder, const Membership& self);
void unlock_robust(std::atomic<std::uint32_t>& holder);

}  // namespace urakata::space
