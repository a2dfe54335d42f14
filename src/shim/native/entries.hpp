// SPDX-License-Identifier: BSD-3-Clause
// What the entry points have in common.
#pragma once

#include "shim/native/abi.hpp"
#include "shim/native/native_library.hpp"

// An entry point of the program's messages. It first tests native.message_path: without an endpoint the call falls
// back. All other work is in a function of its own, which is jumped to. So the entry point saves no registers, and
// costs a test and a jump. All such entry points lie side by side in one section. With a report, the test leads to a
// function that tells the report. It is jumped to as well, so its return address is the program's. (In a build without
// optimisation the address is the entry point's, and the report has one row for each operation.)
#define URAKATA_MESSAGE_EXPORT URAKATA_EXPORT __attribute__((section(".text.hot")))

// The second name of an entry point.
#define URAKATA_ALIAS(name) __attribute__((alias(#name), visibility("default")))

namespace urakata::shim {

// The result of an entry point's function if the call falls back. No MPI error code has this value.
constexpr int kNotOurs = -1;

// Looks up the MPI library if that has not been done. Each entry point that may be the program's first calls it.
inline void need_native() {
  if (!native.found) find_native();
}

}  // namespace urakata::shim
