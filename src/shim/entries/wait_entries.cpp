// SPDX-License-Identifier: BSD-3-Clause
// MPI_Wait, MPI_Waitall, MPI_Waitany, MPI_Waitsome. Where none of the requests is ours the call passes at once.
#include <algorithm>

#include "shim/completion/completion.hpp"
#include "shim/entries/test_array.hpp"
#include "shim/messages/message_report.hpp"
#include "shim/native/entries.hpp"
#include "shim/progress/engine_wait.hpp"
#include "shim/progress/wait_until.hpp"
#include "shim/requests/request_array.hpp"

namespace urakata::shim {
namespace {

void wait_for(Request& request) {
  if (!request.finished()) request.operations().wait(request);
}

// The engine of the first of our collectives; nearly always that of all.
engine::Engine* engine_of(int count, const MPI_Request* requests) {
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    const Request* request = find_request(requests[i]);
    if (request != nullptr && request->communicator != nullptr) return request->communicator->engine;
  }
  return nullptr;
}

int wait_one(MPI_Request* handle, MPI_Status* status) {
  Request* request = find_request(*handle);
  if (request == nullptr) return stale();
  const std::uint64_t begin = observed_entry(1, handle);
  wait_for(*request);
  return complete(*request, handle, status, begin);
}

int wait_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  const std::uint64_t begin = observed_entry(count, requests);
  bool others = false;
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) {
      others = true;
      continue;
    }
    Request* request = find_request(requests[i]);
    if (request == nullptr) return stale();
    wait_for(*request);
    if (begin != 0) observe_waiting(*request, begin);
  }
  int code = MPI_SUCCESS;
  if (others) {
    code = native.Waitall(count, without_ours(count, requests), statuses);
    put_back(count, requests);
    if (begin != 0) observe_other_waiting();
  }
  return complete_all(count, requests, statuses, begin, code);
}

// Returns once `done` has returned true. A rank that waits for messages of its endpoint sleeps at the endpoint, as in a
// wait for one of them.
template <class Done>
void wait_for_some(int count, const MPI_Request* requests, Done done) {
  Waiting waiting(engine_of(count, requests));
  const bool at_endpoint = std::any_of(requests, requests + count, [](MPI_Request handle) {
    const Request* request = is_ours(handle) ? find_request(handle) : nullptr;
    return request != nullptr && request->operations().waits_at_endpoint(*request);
  });
  if (at_endpoint) return wait_until(done);
  while (!done()) waiting.step();
}

int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  const std::uint64_t begin = observed_entry(count, requests);
  int code = MPI_SUCCESS;
  wait_for_some(count, requests, [&] {
    bool none = false;
    code = test_any_of(count, requests, index, &none, status, begin);
    return code != MPI_SUCCESS || none || *index != MPI_UNDEFINED;
  });
  if (begin != 0) observe_exit(count, requests);
  return code;
}

int wait_some(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  const std::uint64_t begin = observed_entry(count, requests);
  int code = MPI_SUCCESS;
  wait_for_some(count, requests, [&] {
    code = test_some_of(count, requests, done, indices, statuses, begin);
    return code != MPI_SUCCESS || *done != 0;
  });
  if (begin != 0) observe_exit(count, requests);
  return code;
}

}  // namespace
}  // namespace urakata::shim

extern "C" {

using namespace urakata::shim;

URAKATA_EXPORT int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  need_native();
  if (request == nullptr || !is_ours(*request)) return native.Wait(request, status);
  return wait_one(request, status);
}

URAKATA_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  need_native();
  if (!any_ours(count, requests)) return native.Waitall(count, requests, statuses);
  return wait_all(count, requests, statuses);
}

URAKATA_EXPORT int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  need_native();
  if (!any_ours(count, requests)) return native.Waitany(count, requests, index, status);
  return wait_any(count, requests, index, status);
}

URAKATA_EXPORT int MPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  need_native();
  if (!any_ours(count, requests)) return native.Waitsome(count, requests, done, indices, statuses);
  return wait_some(count, requests, done, indices, statuses);
}

int PMPI_Wait(MPI_Request*, MPI_Status*) URAKATA_ALIAS(MPI_Wait);
int PMPI_Waitall(int, MPI_Request[], MPI_Status[]) URAKATA_ALIAS(MPI_Waitall);
int PMPI_Waitany(int, MPI_Request[], int*, MPI_Status*) URAKATA_ALIAS(MPI_Waitany);
int PMPI_Waitsome(int, MPI_Request[], int*, int[], MPI_Status[]) URAKATA_ALIAS(MPI_Waitsome);

}  // extern "C"
