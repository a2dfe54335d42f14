// SPDX-License-Identifier: BSD-3-Clause
// One test of an array of requests, for the calls that complete some of them.
//
// Thread-safety: as MPI says of MPI_Testany and MPI_Testsome.
#pragma once

#include <cstdint>

#include "shim/native/abi.hpp"

namespace urakata::shim {

// The index of one that was completed, or MPI_UNDEFINED; `none_active`: there is nothing to wait for.
int test_any_of(int count, MPI_Request* requests, int* index, bool* none_active, MPI_Status* status,
                std::uint64_t begin);

// *done as MPI_Testsome's outcount (MPI_UNDEFINED: nothing active).
int test_some_of(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses, std::uint64_t begin);

}  // namespace urakata::shim
