// SPDX-License-Identifier: BSD-3-Clause
// The fast path of a small message inside a space: bytes without holes, sent at once, received from a rank of the
// space. All other messages branch off from here.
//
// Inline from the program's call to the endpoint, with the descriptor in registers. A call that branches off passes on
// a copy of the descriptor.
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include "shim/messages/message.hpp"
#include "shim/requests/request.hpp"
#include "shim/requests/status.hpp"

namespace urakata::shim {

[[gnu::always_inline]] inline bool sent_at_once(const MessageDescriptor& descriptor) {
  return descriptor.mode != p2p::Mode::synchronous &&
         endpoint()->send_at_once(*descriptor.to, descriptor.envelope, descriptor.buffer);
}

// A blocking send. The result is an MPI error code; the error handler has been called.
[[gnu::always_inline]] inline int send_now(const MessageDescriptor& descriptor) {
  return sent_at_once(descriptor) ? MPI_SUCCESS : send_other_now(copy_of(descriptor));
}

// A blocking receive by the endpoint. The result is an MPI error code; the error handler has been called.
[[gnu::always_inline]] inline int receive_and_wait(const MessageDescriptor& descriptor, MPI_Status* status) {
  p2p::Endpoint& here = *endpoint();
  retain(descriptor.buffer);
  p2p::Request& open = here.receive(descriptor.envelope, descriptor.buffer);
  here.wait(open);
  set_status(status, open.result);
  const int code = code_of(open.result);
  give_back(open);
  return code == MPI_SUCCESS ? code : refuse(copy_of(descriptor), code);
}

[[gnu::always_inline]] inline int receive_now(const MessageDescriptor& descriptor, MPI_Status* status) {
  if (descriptor.carrier != Carrier::space) return receive_other_now(copy_of(descriptor), status);
  p2p::Result result;
  if (endpoint()->receive_at_once(descriptor.envelope, descriptor.buffer, &result)) {
    set_status(status, result);
    return MPI_SUCCESS;
  }
  return receive_and_wait(descriptor, status);
}

// Starts a send, and sets `*handle` to its request. The result is an MPI error code; the error handler has been called.
[[gnu::always_inline]] inline int send_later(const MessageDescriptor& descriptor, MPI_Request* handle) {
  if (!sent_at_once(descriptor)) return send_other_later(copy_of(descriptor), handle);
  *handle = finished_send();
  return MPI_SUCCESS;
}

// The same for a receive. The request keeps those members of the descriptor that the end of a receive needs.
[[gnu::always_inline]] inline int receive_later(const MessageDescriptor& descriptor, MPI_Request* handle) {
  if (descriptor.carrier != Carrier::space) return start_staged(copy_of(descriptor), handle);
  if (!have_request()) return no_request(copy_of(descriptor));
  Request& request = *make_request();
  request.type = RequestType::message;
  request.message.endpoint_comm().store(descriptor.endpoint_comm, std::memory_order_release);
  descriptor.endpoint_comm->retain();
  if (descriptor.buffer.layout != nullptr) {
    request.message.descriptor.type = descriptor.type;
    datatype_of(descriptor).retain();
  }
  request.active = true;
  request.message.open = &endpoint()->receive(descriptor.envelope, descriptor.buffer);
  expect_messages();
  *handle = request.handle();
  return MPI_SUCCESS;
}

// Ends a request that is done, if it is a receive of the fast path that has succeeded. False: it is not, and nothing
// was done.
[[gnu::always_inline]] inline bool complete_fast(Request& request, MPI_Request* handle, MPI_Status* status) {
  MessageState& message = request.message;
  if (message.open == nullptr || message.descriptor.to != nullptr || message.descriptor.type != nullptr ||
      message.beside != nullptr || request.persistent || message.open->result.outcome != p2p::Outcome::good) {
    return false;
  }
  set_status(status, message.open->result);
  endpoint()->release(*message.open);
  message.open = nullptr;
  EndpointComm* const endpoint_comm = message.descriptor.endpoint_comm;
  message.endpoint_comm().store(nullptr, std::memory_order_release);
  endpoint_comm->release();
  request.type = RequestType::none;
  request.active = false;
  give_request_back(request);
  *handle = MPI_REQUEST_NULL;
  return true;
}

// Ends the message of a persistent request that is done, which becomes inactive. False: it takes more, and nothing was
// done.
[[gnu::always_inline]] inline bool stop_fast(Request& request, MPI_Status* status) {
  MessageState& message = request.message;
  if (!request.active || request.staging != nullptr || message.mixed != nullptr) return false;
  if (message.descriptor.is_send()) {
    if (message.open != nullptr) return false;
    empty_status(status);
  } else {
    if (message.open == nullptr || message.open->result.outcome != p2p::Outcome::good) return false;
    set_status(status, message.open->result);
    endpoint()->release(message.persistent, *message.open);
    message.open = nullptr;
  }
  request.active = false;
  return true;
}

}  // namespace urakata::shim
