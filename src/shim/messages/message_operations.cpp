// SPDX-License-Identifier: BSD-3-Clause
#include "shim/messages/message_operations.hpp"

#include <cstdint>

#include "shim/messages/message.hpp"
#include "shim/messages/message_report.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/space.hpp"
#include "shim/requests/request.hpp"
#include "shim/types/datatype.hpp"

namespace urakata::shim {

int MessageOperations::start(Request& request, StartList* /*together*/) const {
  const bool observed = native.message_path == MessagePath::observed;
  if (observed) observe_start(request);
  const int code = start_message(request);
  if (observed) observe_started(request);
  return code;
}

bool MessageOperations::done(const Request& request) const { return request.message.done(); }

void MessageOperations::wait(Request& request) const { wait_for_message(request); }

void MessageOperations::note_unsuccessful_test(Request& request) const {
  for (p2p::Request* part : {request.message.open, request.message.beside}) {
    if (part != nullptr) endpoint()->note_unsuccessful_test(*part);
  }
}

RequestResult MessageOperations::finish(Request& request, MPI_Status* status, std::uint64_t /*begin*/) const {
  return finish_message(request, status);
}

void MessageOperations::peek(const Request& request, MPI_Status* status) const { message_status(request, status); }

std::uint64_t MessageOperations::received(const Request& request) const {
  if (request.message.descriptor.is_send()) return 0;
  MPI_Status status;
  message_status(request, &status);
  MPI_Count bytes = 0;
  native.Get_elements_x(&status, MPI_BYTE, &bytes);
  return static_cast<std::uint64_t>(bytes);
}

bool MessageOperations::cancel(Request& request) const {
  if (!request.active) return false;
  cancel_message(request);
  return true;
}

bool MessageOperations::abandon(Request& request) const { return abandon_message(request); }

void MessageOperations::clear(Request& request) const {
  end_pair(request);
  if (request.message.descriptor.type != nullptr) datatype_of(request.message.descriptor).release();
  EndpointComm* const endpoint_comm = request.message.descriptor.endpoint_comm;
  if (request.message.mixed != nullptr) take_mixed(request);
  request.message.clear();
  endpoint_comm->release();
  request.message_site = nullptr;
}

EndpointComm* MessageOperations::endpoint_comm(const Request& request) const {
  return request.message.descriptor.endpoint_comm;
}

}  // namespace urakata::shim
