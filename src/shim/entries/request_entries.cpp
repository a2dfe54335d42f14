// SPDX-License-Identifier: BSD-3-Clause
// MPI_Start, MPI_Startall, MPI_Cancel, MPI_Request_free.
#include "shim/collectives/start.hpp"
#include "shim/completion/completion.hpp"
#include "shim/completion/left_behind.hpp"
#include "shim/native/entries.hpp"
#include "shim/requests/request_array.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {
namespace {

int free_one(MPI_Request* handle) {
  Request* request = find_request(*handle);
  if (request == nullptr) return stale();
  *handle = MPI_REQUEST_NULL;
  if (request->type == RequestType::finished_send) return MPI_SUCCESS;
  if (request->staging != nullptr && request->active) {
    leave_to_settle(*request);
    settle_left_behind();
    return MPI_SUCCESS;
  }
  if (!request->operations().abandon(*request)) destroy_request(request);
  return MPI_SUCCESS;
}

// `list`: takes collectives that are to be started together; nullptr: there are no others.
int start_one(MPI_Request* handle, StartList* list = nullptr) {
  Request* request = find_request(*handle);
  if (request == nullptr) return stale();
  if (!request->persistent || request->active) return complain(request->communicator, MPI_ERR_REQUEST);
  return request->operations().start(*request, list);
}

}  // namespace
}  // namespace urakata::shim

extern "C" {

using namespace urakata::shim;

URAKATA_EXPORT int MPI_Request_free(MPI_Request* request) {
  need_native();
  if (request == nullptr || !is_ours(*request)) return native.Request_free(request);
  return free_one(request);
}

URAKATA_EXPORT int MPI_Cancel(MPI_Request* request) {
  need_native();
  if (request == nullptr || !is_ours(*request)) return native.Cancel(request);
  Request* ours = find_request(*request);
  if (ours != nullptr && ours->operations().cancel(*ours)) return MPI_SUCCESS;
  return complain(ours != nullptr ? ours->communicator : nullptr,
                  MPI_ERR_REQUEST);  // MPI: collectives cannot be cancelled
}

URAKATA_EXPORT int MPI_Start(MPI_Request* request) {
  need_native();
  if (request == nullptr || !is_ours(*request)) return native.Start(request);
  return start_one(request);
}

URAKATA_EXPORT int MPI_Startall(int count, MPI_Request requests[]) {
  need_native();
  if (!any_ours(count, requests)) return native.Startall(count, requests);
  thread_local StartList list;
  int code = MPI_SUCCESS;
  for (int i = 0; i < count && code == MPI_SUCCESS; ++i) {
    code = is_ours(requests[i]) ? start_one(requests + i, &list) : native.Start(requests + i);
  }
  list.start();  // those before an error are started
  return code;
}

int PMPI_Request_free(MPI_Request*) URAKATA_ALIAS(MPI_Request_free);
int PMPI_Cancel(MPI_Request*) URAKATA_ALIAS(MPI_Cancel);
int PMPI_Start(MPI_Request*) URAKATA_ALIAS(MPI_Start);
int PMPI_Startall(int, MPI_Request[]) URAKATA_ALIAS(MPI_Startall);

}  // extern "C"
