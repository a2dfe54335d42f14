// SPDX-License-Identifier: BSD-3-Clause
#include "shim/completion/completion.hpp"

#include "observe/observer.hpp"
#include "shim/messages/fast_calls.hpp"
#include "shim/messages/message_report.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/profiled.hpp"
#include "shim/requests/request_array.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {

void Failure::note(const Request& request, const RequestResult& result) {
  if (result.code == MPI_SUCCESS || any()) return;
  code_ = result.code;
  told_ = result.told;
  communicator_ = request.communicator;
  endpoint_comm_ = request.operations().endpoint_comm(request);
  if (communicator_ != nullptr) communicator_->retain();
  if (endpoint_comm_ != nullptr) endpoint_comm_->retain();
}

void Failure::release_layout() {
  if (communicator_ != nullptr) communicator_->release();
  if (endpoint_comm_ != nullptr) endpoint_comm_->release();
}

int Failure::tell() {
  if (code_ == MPI_SUCCESS || told_) return code_;
  return endpoint_comm_ != nullptr ? error_target(*endpoint_comm_).tell(code_) : complain(communicator_, code_);
}

int Failure::tell_of_array() {
  if (code_ == MPI_SUCCESS) return MPI_SUCCESS;
#if defined(URAKATA_ABI_OPENMPI)
  tell();
#else
  if (!told_) complain(nullptr, MPI_ERR_IN_STATUS);
#endif
  return MPI_ERR_IN_STATUS;
}

int conclude(Request& request, MPI_Status* status, std::uint64_t begin, Failure& failure) {
  const int staged = request.staging != nullptr ? settle(request) : MPI_SUCCESS;
  RequestResult result = request.operations().finish(request, status, begin);
  if (result.code == MPI_SUCCESS) result.code = staged;
  request.active = false;
  failure.note(request, result);
  return result.code;
}

int complete(Request& request, MPI_Request* handle, MPI_Status* status, std::uint64_t begin, Failure& failure) {
  if (request.type == RequestType::finished_send) {
    empty_status(status);
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  if (request.is_message()) {
    if (begin != 0) observe_end(request, begin);
    if (complete_fast(request, handle, status)) return MPI_SUCCESS;
    if (request.persistent && stop_fast(request, status)) return MPI_SUCCESS;
  }
  const int code = conclude(request, status, begin, failure);
  if (!request.persistent) {
    destroy_request(&request);
    *handle = MPI_REQUEST_NULL;
  }
  return code;
}

int complete(Request& request, MPI_Request* handle, MPI_Status* status, std::uint64_t begin) {
  Failure failure;
  complete(request, handle, status, begin, failure);
  return failure.tell();
}

int complete_all(int count, MPI_Request* requests, MPI_Status* statuses, std::uint64_t begin, int native_code) {
  Failure failure;
  const bool report = statuses != MPI_STATUSES_IGNORE;
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) {
      if (report && native_code == MPI_SUCCESS) statuses[i].MPI_ERROR = MPI_SUCCESS;
      continue;
    }
    const int own = complete(*find_request(requests[i]), requests + i, at(statuses, i), begin, failure);
    if (report) statuses[i].MPI_ERROR = own;
  }
  return native_code != MPI_SUCCESS ? native_code : failure.tell_of_array();
}

std::uint64_t observed_entry(int count, const MPI_Request* requests) {
  if (process_state.observer == nullptr) return 0;
  const std::uint64_t begin = call_begin();
  for (int i = 0; i < count; ++i) {
    Request* const request = is_ours(requests[i]) ? find_request(requests[i]) : nullptr;
    if (request != nullptr && request->active && request->is_message()) observe_entry(*request, begin);
  }
  return begin;
}

}  // namespace urakata::shim
