// SPDX-License-Identifier: BSD-3-Clause
// The MPI call that the calling thread is in: caller, begin and end. The profile, a preload library in front of this
// one, notes them (observe/profile_link.hpp). Without a profile the functions below find them themselves.
//
// Thread-safety: by any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.hpp"
#include "observe/profile_link.hpp"

namespace urakata::shim {

extern constinit thread_local observe::ProfiledThread profiled;

// Points to a word that is not zero while the program waits (ProfileLink::waiting). nullptr: there is no profile.
[[gnu::visibility("hidden")]] extern constinit std::atomic<const std::atomic<std::uint32_t>*> program_waits;

// The address in the program that the call returns to. `return_address`: the entry point's, used without a profile.
inline const void* caller(const void* return_address) {
  return profiled.caller != nullptr ? profiled.caller : return_address;
}

// When the call began (as now_ns()). An entry point asks this before it does anything else.
inline std::uint64_t call_begin() { return profiled.begin != 0 ? profiled.begin : now_ns(); }
// The present time, for a call that has nothing left to wait for. The profile takes it as the call's end.
inline std::uint64_t call_end() { return profiled.end = now_ns(); }

}  // namespace urakata::shim
