// SPDX-License-Identifier: BSD-3-Clause
// Finds the Python line of an MPI call that lasts long, so that the report names the line of a call that hangs.
//
// The line cannot be read when the call begins: that needs the GIL, and waiting for the GIL then could be a deadlock
// (observe/python.hpp). So a thread of ours finds the line once a call has lasted half a second. That thread may wait
// for the GIL, since no other thread waits for that thread. Only the call that has begun last is looked at.
//
// Thread-safety: any thread may call both functions.
#pragma once

#include <atomic>
#include <cstdint>

#include "observe/call_profile.hpp"

namespace urakata::profile {

// The calling thread begins a call from an extension module of Python at `begin` (now_ns()). `name` and `address` are
// those of the call's record in the profile. Does nothing in a thread that Python does not know. The first call starts
// the thread that looks for lines, which ends once `own` holds no profile.
void note_python_call(const std::atomic<observe::CallProfile*>& own, const char* name, const void* address,
                      std::uint64_t begin);
// The calling thread's call that began at `begin` ends. To be called before the call returns, since the thread may end
// after that.
void end_python_call(std::uint64_t begin);

}  // namespace urakata::profile
