// SPDX-License-Identifier: BSD-3-Clause
// The line of a Python program that is inside a call for long.
//
// When a call begins its line cannot be read: that needs the GIL, and waiting for it there could be a deadlock
// (observe/python.hpp). So the line is found by a thread of ours, once a call has lasted for a while. That thread may
// wait for the GIL as long as it likes: nobody waits for it.
#pragma once

#include <atomic>
#include <cstdint>

#include "observe/call_profile.hpp"

namespace urakata::profile {

// The calling thread begins a call from an extension module of Python's: `name` and `address` are its record's in the
// profile. The thread that looks for lines starts with the first one, and ends once `own` holds no profile.
void note_python_call(const std::atomic<observe::CallProfile*>& own, const char* name, const void* address,
                      std::uint64_t begin);
// The same thread's call that began at `begin` ends: before it returns, since the thread may end then.
void end_python_call(std::uint64_t begin);

}  // namespace urakata::profile
