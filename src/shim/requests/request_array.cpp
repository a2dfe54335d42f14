// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/request_array.hpp"

#include <algorithm>
#include <vector>

namespace urakata::shim {

namespace {

thread_local std::vector<MPI_Request> kept_theirs;

}  // namespace

MPI_Request* without_ours(int count, const MPI_Request* requests) {
  kept_theirs.assign(requests, requests + count);
  for (MPI_Request& request : kept_theirs) {
    if (is_ours(request)) request = MPI_REQUEST_NULL;
  }
  return kept_theirs.data();
}

bool native_has_some() {
  return std::any_of(kept_theirs.begin(), kept_theirs.end(), [](MPI_Request r) { return r != MPI_REQUEST_NULL; });
}

void put_back(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) requests[i] = kept_theirs[static_cast<std::size_t>(i)];
  }
}

}  // namespace urakata::shim
