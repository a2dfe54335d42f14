// A lock between the tasks of a space. That of a task that dies passes on.
#pragma once

#include <atomic>
#include <cstdint>

#include "space/registry.hpp"

namespace urakata::space {

// What a lock holds that this task has: its slot, and which of the slot's tasks it is. Never 0, which is a free lock.
// (A pid may soon be another process's.)
std::uint32_t lock_word(const Membership& task);

// Gives the task the lock, once nobody has it or the registry says that its holder has ended; waits for a running one.
// `holder` is one of the locks in the task's registry. True: the one before died with the lock, and what it was doing
// may be half done. A signal handler may call it.
bool lock_robust(std::atomic<std::uint32_t>& holder, const Membership& self);
void unlock_robust(std::atomic<std::uint32_t>& holder);

}  // namespace urakata::space
