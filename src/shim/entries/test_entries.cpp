// SPDX-License-Identifier: BSD-3-Clause
// MPI_Test, MPI_Testall, MPI_Testany, MPI_Testsome. Where none of the requests is ours the call passes at once.
#include "base/clock.hpp"
#include "shim/completion/completion.hpp"
#include "shim/entries/progress_before_test.hpp"
#include "shim/entries/test_array.hpp"
#include "shim/messages/message.hpp"
#include "shim/messages/message_report.hpp"
#include "shim/native/entries.hpp"
#include "shim/requests/request_array.hpp"

namespace urakata::shim {
namespace {

void tested_in_vain(Request& request, std::uint64_t begin) {
  request.operations().note_unsuccessful_test(request);
  if (request.type != RequestType::collective) note_unsuccessful_call();
  if (begin != 0 && request.is_message()) observe_waiting(request, begin);
  if (request.call_site != nullptr) request.observed.tested(begin, now_ns());
}

[[gnu::noinline]] int test_at_length(Request* request, MPI_Request* handle, int* flag, MPI_Status* status) {
  if (request == nullptr) return stale();
  const std::uint64_t begin = observed_entry(1, handle);
  if (!request->finished()) {
    progress_before_test(1, handle, begin);
    if (!request->finished()) tested_in_vain(*request, begin);
  }
  *flag = request->finished() ? 1 : 0;
  if (*flag != 0) return complete(*request, handle, status, begin);
  if (begin != 0) observe_exit(1, handle);
  return MPI_SUCCESS;
}

// Most tests of an operation that the kernel runs only ask whether it may have ended, which is cheap. One in kTests
// reads the clock, and makes progress of all else that is ours if a step is due.
int test_one(MPI_Request* handle, int* flag, MPI_Status* status) {
  constexpr unsigned kTests = 32;  // for each reading of the clock
  static thread_local unsigned tests = 0;
  Request* request = find_request(*handle);
  if (request != nullptr && request->call_site == nullptr && goes_on_by_kernel(*request) && ++tests % kTests != 0) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  return test_at_length(request, handle, flag, status);
}

int test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  const std::uint64_t begin = observed_entry(count, requests);
  progress_before_test(count, requests, begin);
  *flag = 0;
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    Request* request = find_request(requests[i]);
    if (request == nullptr) return stale();
    if (!request->finished()) {
      tested_in_vain(*request, begin);
      if (begin != 0) observe_exit(count, requests);
      return MPI_SUCCESS;
    }
  }
  const int code = native.Testall(count, without_ours(count, requests), flag, statuses);
  put_back(count, requests);
  if ((code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) || *flag == 0) {
    if (begin != 0) observe_exit(count, requests);
    return code;
  }
  return complete_all(count, requests, statuses, begin, code);
}

}  // namespace
}  // namespace urakata::shim

extern "C" {

using namespace urakata::shim;

URAKATA_EXPORT int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  need_native();
  if (request == nullptr || !is_ours(*request)) return native.Test(request, flag, status);
  return test_one(request, flag, status);
}

URAKATA_EXPORT int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  need_native();
  if (!any_ours(count, requests)) return native.Testall(count, requests, flag, statuses);
  return test_all(count, requests, flag, statuses);
}

URAKATA_EXPORT int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  need_native();
  if (!any_ours(count, requests)) return native.Testany(count, requests, index, flag, status);
  const std::uint64_t begin = observed_entry(count, requests);
  progress_before_test(count, requests, begin);
  bool none = false;
  const int code = test_any_of(count, requests, index, &none, status, begin);
  *flag = none || *index != MPI_UNDEFINED ? 1 : 0;
  if (begin != 0) observe_exit(count, requests);
  return code;
}

URAKATA_EXPORT int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  need_native();
  if (!any_ours(count, requests)) return native.Testsome(count, requests, done, indices, statuses);
  const std::uint64_t begin = observed_entry(count, requests);
  progress_before_test(count, requests, begin);
  const int code = test_some_of(count, requests, done, indices, statuses, begin);
  if (begin != 0) observe_exit(count, requests);
  return code;
}

int PMPI_Test(MPI_Request*, int*, MPI_Status*) URAKATA_ALIAS(MPI_Test);
int PMPI_Testall(int, MPI_Request[], int*, MPI_Status[]) URAKATA_ALIAS(MPI_Testall);
int PMPI_Testany(int, MPI_Request[], int*, int*, MPI_Status*) URAKATA_ALIAS(MPI_Testany);
int PMPI_Testsome(int, MPI_Request[], int*, int[], MPI_Status[]) URAKATA_ALIAS(MPI_Testsome);

}  // extern "C"
