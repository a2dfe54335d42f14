// What the entry points have in common.
#pragma once

#include "shim/abi.hpp"
#include "shim/host.hpp"
#include "shim/space.hpp"

// The second name of an entry point.
#define URAKATA_ALIAS(name) __attribute__((alias(#name), visibility("default")))

namespace urakata::shim {

// Before a call of the host in an entry point that may be the program's first.
inline void need_host() {
  if (!host.found) find_host();
}

// Outside a space messages are the host's. Tested first in MPI_Send, MPI_Recv and their kin, which go on in a function
// of their own: without registers to save they cost the program no more than two tests and a jump.
inline bool messages_by_host() { return host.found && endpoint() == nullptr; }

}  // namespace urakata::shim
