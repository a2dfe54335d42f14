// SPDX-License-Identifier: BSD-3-Clause
// A lock between the tasks of a space. If its holder dies, the next task takes it over.
#pragma once

#include <atomic>
#include <cstdint>

#include "space/registry.hpp"

namespace urakata::space {

// The value of a lock that this task holds. It is made of the task's slot and of the number of tasks that have had that
// slot. It is never 0, which is a free lock. A pid would not serve, since a new process may soon have the same pid.
std::uint32_t lock_word(const Membership& task);

// Takes the lock `holder`, which is in the registry, for the task `self`. Waits as long as a running task holds it. If
// the registry says that its holder has ended, takes the lock over. True: it was taken over, and what it protects may
// be half changed. A signal handler may call it.
bool lock_robust(std::atomic<std::uint32_t>& holder, const Membership& self);
// Frees the lock, which the calling task holds. A signal handler may call it.
void unlock_robust(std::atomic<std::uint32_t>& holder);

}  // namespace urakata::space
