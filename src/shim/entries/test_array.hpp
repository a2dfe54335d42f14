// SPDX-License-Identifier: BSD-3-Clause
// One test of an array that has requests of ours, for the calls that complete some of them. The functions return an MPI
// error code; the error handler has been called. `begin`: of the call, by observed_entry().
//
// Thread-safety: as MPI says of MPI_Testany and MPI_Testsome.
#pragma once

#include <cstdint>

#include "shim/native/abi.hpp"

namespace urakata::shim {

// Completes one request that is finished. `*index`: which, or MPI_UNDEFINED. `*none_active`: no request is active.
int test_any_of(int count, MPI_Request* requests, int* index, bool* none_active, MPI_Status* status,
                std::uint64_t begin);

// Completes all requests that are finished. `*done`: as MPI_Testsome's outcount (MPI_UNDEFINED: none is active).
int test_some_of(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses, std::uint64_t begin);

}  // namespace urakata::shim
