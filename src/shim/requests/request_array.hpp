// SPDX-License-Identifier: BSD-3-Clause
// Arrays that mix our requests with the MPI library's: the MPI library gets a copy of the array in which ours are
// MPI_REQUEST_NULL.
//
// Thread-safety: by any thread; the copy is the thread's own and stays valid until its next call of without_ours().
#pragma once

#include "shim/native/abi.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

inline bool any_ours(int count, const MPI_Request* requests) {
  if (requests == nullptr) return false;
  for (int i = 0; i < count; ++i) {
    if (is_ours(requests[i])) return true;
  }
  return false;
}

// Copies the array for the MPI library, with MPI_REQUEST_NULL in place of each request of ours. The thread keeps one
// copy, which the next call overwrites.
MPI_Request* without_ours(int count, const MPI_Request* requests);
// Whether the copy has a request that is not MPI_REQUEST_NULL.
bool native_has_some();
// Writes what the MPI library has made of the copy to the program's array. Requests of ours stay as they are there.
void put_back(int count, MPI_Request* requests);

inline MPI_Status* at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

}  // namespace urakata::shim
