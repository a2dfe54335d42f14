// SPDX-License-Identifier: BSD-3-Clause
// MPI_Request_get_status and its kin: the state of requests, which stay as they are.
#include "shim/completion/completion.hpp"
#include "shim/entries/progress_before_test.hpp"
#include "shim/messages/message.hpp"
#include "shim/messages/message_report.hpp"
#include "shim/native/entries.hpp"
#include "shim/requests/request_array.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {
namespace {

int status_of(MPI_Request handle, int* flag, MPI_Status* status) {
  Request* request = find_request(handle);
  if (request == nullptr) return stale();
  const std::uint64_t begin = observed_entry(1, &handle);
  if (!request->finished()) progress_before_test(1, &handle, begin);
  if (begin != 0) observe_exit(1, &handle);
  *flag = request->finished() ? 1 : 0;
  if (*flag != 0 && request->staging != nullptr) {
    Failure failure;
    failure.note(*request, {settle(*request)});
    if (failure.any()) return failure.tell();
  }
  if (*flag == 0) {
    request->operations().note_unsuccessful_test(*request);
    note_unsuccessful_call();
  } else {
    request->operations().peek(*request, status);
  }
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace urakata::shim

extern "C" {

using namespace urakata::shim;

URAKATA_EXPORT int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  need_native();
  if (!is_ours(request)) return native.Request_get_status(request, flag, status);
  return status_of(request, flag, status);
}

int PMPI_Request_get_status(MPI_Request, int*, MPI_Status*) URAKATA_ALIAS(MPI_Request_get_status);

#if defined(URAKATA_STATUS_QUERIES)
URAKATA_EXPORT int MPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag,
                                              MPI_Status statuses[]) {
  need_native();
  if (!any_ours(count, requests)) return native.Request_get_status_all(count, requests, flag, statuses);
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    const int code = status_of(requests[i], flag, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || *flag == 0) return code;
  }
  const int code = native.Request_get_status_all(count, without_ours(count, requests), flag, statuses);
  if (code == MPI_SUCCESS && *flag != 0) {
    for (int i = 0; i < count; ++i) {
      if (is_ours(requests[i])) status_of(requests[i], flag, at(statuses, i));
    }
  }
  return code;
}

URAKATA_EXPORT int MPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                                              MPI_Status* status) {
  need_native();
  if (!any_ours(count, requests)) return native.Request_get_status_any(count, requests, index, flag, status);
  bool waiting = false;
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    const Request* request = find_request(requests[i]);
    if (request == nullptr) return stale();
    if (!request->active) continue;
    const int code = status_of(requests[i], flag, status);
    if (code != MPI_SUCCESS || *flag != 0) {
      *index = i;
      return code;
    }
    waiting = true;
  }
  const int code = native.Request_get_status_any(count, without_ours(count, requests), index, flag, status);
  if (code == MPI_SUCCESS && *flag != 0 && *index == MPI_UNDEFINED && waiting) *flag = 0;
  return code;
}

URAKATA_EXPORT int MPI_Request_get_status_some(int count, const MPI_Request requests[], int* done, int indices[],
                                               MPI_Status statuses[]) {
  need_native();
  if (!any_ours(count, requests)) return native.Request_get_status_some(count, requests, done, indices, statuses);
  int code = native.Request_get_status_some(count, without_ours(count, requests), done, indices, statuses);
  const bool none_theirs = *done == MPI_UNDEFINED;
  if (none_theirs) *done = 0;
  bool active = false;
  for (int i = 0; i < count && code == MPI_SUCCESS; ++i) {
    if (!is_ours(requests[i])) continue;
    const Request* request = find_request(requests[i]);
    if (request == nullptr) return stale();
    if (!request->active) continue;
    active = true;
    int flag = 0;
    code = status_of(requests[i], &flag, at(statuses, *done));
    if (flag != 0) indices[(*done)++] = i;
  }
  if (none_theirs && !active) *done = MPI_UNDEFINED;
  return code;
}

int PMPI_Request_get_status_all(int, const MPI_Request[], int*, MPI_Status[]) URAKATA_ALIAS(MPI_Request_get_status_all);
int PMPI_Request_get_status_any(int, const MPI_Request[], int*, int*, MPI_Status*)
    URAKATA_ALIAS(MPI_Request_get_status_any);
int PMPI_Request_get_status_some(int, const MPI_Request[], int*, int[], MPI_Status[])
    URAKATA_ALIAS(MPI_Request_get_status_some);
#endif

}  // extern "C"
