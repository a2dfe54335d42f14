// SPDX-License-Identifier: BSD-3-Clause
// Whether drivers of accelerators are loaded, so that buffers of the program may lie in device memory.
//
// Drivers may come at any time, since programs load them late (Python does). So the preload library stands in front of
// dlopen: each call raises a flag, and the next MPI call with a buffer looks at what has been loaded. A look in another
// thread, between the raising of the flag and the loading, misses the library until the next call of dlopen.
//
// Thread-safety: by any thread.
#pragma once

#include "shim/native/native_library.hpp"

namespace urakata::shim {

// Whether there are drivers. Looks anew if dlopen has been called since the last look.
[[gnu::cold]] bool look_for_devices();

// Whether there are drivers, so that each buffer's place must be looked up. Without drivers this tests one flag.
inline bool have_devices() {
  if (native.may_have_devices.load(std::memory_order_relaxed)) [[unlikely]] {
    return look_for_devices();
  }
  return false;
}

}  // namespace urakata::shim
