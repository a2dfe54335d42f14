// SPDX-License-Identifier: BSD-3-Clause
// The progress that a call which tests requests makes before it looks at them.
//
// Thread-safety: by any thread between MPI_Init and MPI_Finalize.
#pragma once

#include <cstdint>

#include "shim/communicators/prepared.hpp"
#include "shim/native/abi.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

// Whether the kernel runs the request's operation, which goes on without the program, and a step would find nothing.
inline bool goes_on_by_kernel(const Request& request) {
  const Run* const run = request.run;
  return run != nullptr && run->executor != nullptr && request.active && !run->finished() && !run->can_progress();
}

// Makes one step of progress before MPI_Test and its kin look at these requests. If the kernel runs all requests of
// ours that are not finished, only some calls make a step. `begin`: from observed_entry(); if not 0, each call makes
// one.
void progress_before_test(int count, const MPI_Request* requests, std::uint64_t begin);

}  // namespace urakata::shim
