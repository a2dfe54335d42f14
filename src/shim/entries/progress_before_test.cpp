// SPDX-License-Identifier: BSD-3-Clause
#include "shim/entries/progress_before_test.hpp"

#include "shim/progress/progress.hpp"

namespace urakata::shim {

namespace {

bool all_go_on_by_kernel(int count, const MPI_Request* requests) {
  bool some = false;
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    const Request* const request = find_request(requests[i]);
    if (request == nullptr || request->finished()) continue;
    if (!goes_on_by_kernel(*request)) return false;
    some = true;
  }
  return some;
}

}  // namespace

void progress_before_test(int count, const MPI_Request* requests, std::uint64_t begin) {
  if (begin == 0 && all_go_on_by_kernel(count, requests)) {
    the_progress->step_rarely();
  } else {
    the_progress->step_all();
  }
}

}  // namespace urakata::shim
