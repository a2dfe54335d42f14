// SPDX-License-Identifier: BSD-3-Clause
// How the calls that test requests move on what is ours before they look.
//
// Thread-safety: by any thread between MPI_Init and MPI_Finalize.
#pragma once

#include <cstdint>

#include "shim/communicators/prepared.hpp"
#include "shim/native/abi.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

// Does an operation go on that the kernel runs, without readiness of it? It does so without its owner.
inline bool goes_on_by_kernel(const Request& request) {
  const Run* const run = request.run;
  return run != nullptr && run->executor != nullptr && request.active && !run->finished() && !run->readiness();
}

// A step of all that is ours; only now and then where, of these requests, those of ours that are not finished all go on
// by the kernel. `begin`: as observed_entry() gave it; what is observed has its step each time.
void step_before_test(int count, const MPI_Request* requests, std::uint64_t begin);

}  // namespace urakata::shim
