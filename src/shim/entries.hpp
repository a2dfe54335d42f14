// What the entry points have in common.
#pragma once

#include "shim/abi.hpp"
#include "shim/host.hpp"

// The second name of an entry point.
#define URAKATA_ALIAS(name) __attribute__((alias(#name), visibility("default")))

namespace urakata::shim {

// Before a call of the host in an entry point that may be the program's first.
inline void need_host() {
  if (!host.found) find_host();
}

}  // namespace urakata::shim
