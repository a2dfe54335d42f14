// SPDX-License-Identifier: BSD-3-Clause
// Are there drivers of accelerators in the process, whose memory the program may hand to us?
//
// They may come at any time, since programs load them late (Python does). So the preload library stands in front of
// dlopen: each call raises a flag, and the next call of MPI that has a buffer looks at what has been loaded. A thread
// inside MPI that looks in the very moment before another one's dlopen begins may miss that library until the next one.
//
// Thread-safety: by any thread.
#pragma once

#include "shim/native/native_library.hpp"

namespace urakata::shim {

// Looks if anything has been loaded since the last look.
[[gnu::cold]] bool look_for_devices();

// True: each buffer's kind has to be asked. One test of a flag on the MPI library's first line where there is none.
inline bool have_devices() {
  if (native.may_have_devices.load(std::memory_order_relaxed)) [[unlikely]] {
    return look_for_devices();
  }
  return false;
}

}  // namespace urakata::shim
