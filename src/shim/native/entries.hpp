// SPDX-License-Identifier: BSD-3-Clause
// What the entry points have in common.
#pragma once

#include "shim/native/abi.hpp"
#include "shim/native/native_library.hpp"

// An entry point of messages. Outside a space they are the MPI library's (native.message_path): that is tested first,
// and what else there is to do is done in a function of its own, so that without registers to save it costs the program
// no more than a test and a jump. In one section: side by side, on one page. The same test tells whether the
// report is to know; that function is jumped to as well, so its return address is the program's (in a build without
// optimisation it is the entry point's, and the report's rows are one for each operation).
#define URAKATA_MESSAGE_EXPORT URAKATA_EXPORT __attribute__((section(".text.hot")))

// The second name of an entry point.
#define URAKATA_ALIAS(name) __attribute__((alias(#name), visibility("default")))

namespace urakata::shim {

// What a function of an entry point returns where the call is the MPI library's: no MPI error code.
constexpr int kNotOurs = -1;

// Before a call of the MPI library in an entry point that may be the program's first.
inline void need_native() {
  if (!native.found) find_native();
}

}  // namespace urakata::shim
