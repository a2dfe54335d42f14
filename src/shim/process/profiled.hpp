// SPDX-License-Identifier: BSD-3-Clause
// What the profile, a preload library in front of this one, tells of the call that a thread is in; where there is none
// the same by ourselves. Of the calling thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.hpp"
#include "observe/profile_link.hpp"

namespace urakata::shim {

extern constinit thread_local observe::ProfiledThread profiled;

// Not zero while the program waits (ProfileLink::waiting). nullptr: there is no profile, and nobody knows.
[[gnu::visibility("hidden")]] extern constinit std::atomic<const std::atomic<std::uint32_t>*> program_waits;

// Who has called the entry point that is to return to this address.
inline const void* caller(const void* return_address) {
  return profiled.caller != nullptr ? profiled.caller : return_address;
}

// When the call began: in an entry point, before anything else.
inline std::uint64_t call_begin() { return profiled.begin != 0 ? profiled.begin : now_ns(); }
// The time, in a call that has nothing left to wait for.
inline std::uint64_t call_end() { return profiled.end = now_ns(); }

}  // namespace urakata::shim
