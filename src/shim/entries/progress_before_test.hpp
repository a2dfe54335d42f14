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

// Whether the kernel runs the request's operation, which then goes on without its owner, and none of it has ended.
inline bool goes_on_by_kernel(const Request& request) {
  const Run* const run = request.run;
  return run != nullptr && run->executor != nullptr && request.active && !run->finished() && !run->can_progress();
}

// One step of progress before MPI_Test and its kin look at these requests. Only now and then if the kernel runs all of
// ours that are not finished. `begin`: as observed_entry() gave it; an observed call has its step each time.
void progress_before_test(int count, const MPI_Request* requests, std::uint64_t begin);

}  // namespace urakata::shim
