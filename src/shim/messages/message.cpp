// SPDX-License-Identifier: BSD-3-Clause
#include "shim/messages/message.hpp"

#include <sched.h>

#include <utility>

#include "base/mutex.hpp"
#include "shim/messages/fast_calls.hpp"
#include "shim/messages/wire_messages.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/devices.hpp"
#include "shim/process/space.hpp"
#include "shim/progress/progress.hpp"
#include "shim/progress/wait_until.hpp"
#include "shim/requests/request.hpp"
#include "shim/requests/staging.hpp"
#include "shim/requests/status.hpp"

namespace urakata::shim {

namespace {

void release_layout_and_comm(const p2p::Request& request) {
  if (request.buffer.layout != nullptr) release_layout(request);
  static_cast<EndpointComm*>(request.owner)->drop();
}

// To be called when the program continues with an open request of the endpoint.
void expect(const MessageDescriptor& descriptor) {
  expect_messages();
  if (descriptor.endpoint_comm->wide) expect_by_link(descriptor.buffer.bytes());
}

// The MPI error code of a request that need not be waited for any more. MPI_SUCCESS for a send whose payload was copied
// and has not left: the program does not learn its outcome.
int outcome_of(const p2p::Request& request) {
  return request.finished.load(std::memory_order_acquire) ? code_of(request.result) : MPI_SUCCESS;
}

// Ends a receive on a mixed endpoint communicator. `*told`: whether the MPI library has carried or refused the receive,
// and so has called the error handler itself.
int end_mixed(const messages::MixedReceive::End& end, MPI_Status* status, bool* told) {
  *told = end.code != MPI_SUCCESS || end.request.has_value();
  if (end.code != MPI_SUCCESS) {
    empty_status(status);
    return end.code;
  }
  if (end.request.has_value()) {
    MPI_Request request = handle_of<MPI_Request>(*end.request);
    return native.Wait(&request, status);
  }
  set_status(status, end.result);
  return code_of(end.result);
}

// Waits for a mixed receive. step_engines() polls the MPI library for the receive already, and each poll takes system
// calls, so the backoff does not poll again.
void wait_for(const messages::MixedReceive& receive, p2p::Backoff& backoff) {
  const auto done = [&] { return receive.done(); };
  while (!done()) {
    if (the_progress->step_engines()) {
      backoff.restart();
    } else {
      backoff.step_after_all(done);
    }
  }
}

}  // namespace

void release_layout(const p2p::Request& request) { static_cast<const Datatype*>(request.buffer.layout)->release(); }

bool outside(int rank, MPI_Comm comm) {
  const EndpointComm* in = endpoint() != nullptr ? endpoint_comm(comm) : nullptr;
  return in != nullptr && in->has(rank) && in->outside(rank);
}

int refuse(const MessageDescriptor& descriptor, int code) { return error_target(*descriptor.endpoint_comm).tell(code); }

void end_pair(Request& request) {
  if (!request.persistent || endpoint() == nullptr) return;
  p2p::Request* const open = request.message.open;
  endpoint()->end(request.message.persistent, request.message.descriptor.is_send() ? nullptr : open);
}

p2p::Request* open_send(const MessageDescriptor& descriptor) {
  p2p::Endpoint& here = *endpoint();
  if (descriptor.to != nullptr) {
    return here.send(*descriptor.to, descriptor.envelope, descriptor.buffer, descriptor.mode);
  }
  p2p::Request* const open = here.send(descriptor.peer, descriptor.envelope, descriptor.buffer, descriptor.mode);
  if (open == nullptr && link()->sending()) expect(descriptor);
  return open;
}

int end_send(p2p::Request& request, const MessageDescriptor& descriptor) {
  if (descriptor.mode != p2p::Mode::buffered) endpoint()->wait(request);
  const int code = outcome_of(request);
  // A send that was buffered or copied aside still has to leave, and the program may block in the MPI library next.
  if (!request.finished.load(std::memory_order_relaxed)) expect(descriptor);
  give_back(request);
  return code == MPI_SUCCESS ? code : refuse(descriptor, code);
}

void leave_behind(p2p::Request& request, EndpointComm& endpoint_comm) {
  endpoint_comm.leave_behind();
  request.owner = &endpoint_comm;
  endpoint()->release(request, release_layout_and_comm);
}

int send_other_now(const MessageDescriptor& descriptor) {
  p2p::Request* const open = open_send(descriptor);
  if (open == nullptr) return MPI_SUCCESS;
  retain(descriptor.buffer);
  return end_send(*open, descriptor);
}

int receive_other_now(const MessageDescriptor& descriptor, MPI_Status* status) {
  if (messages::by_endpoint(descriptor.carrier)) return receive_and_wait(descriptor, status);
  datatype_of(descriptor).retain();
  bool told = false;
  int code = MPI_SUCCESS;
  {
    // The wait begins before the receive: else a progress thread would compete on this core for the same message.
    p2p::Backoff backoff(endpoint()->port(), endpoint()->backoff_settings());
    messages::MixedReceive receive(*mixed_queue, descriptor);
    wait_for(receive, backoff);
    code = end_mixed(receive.end(), status, &told);
  }
  datatype_of(descriptor).release();
  return code == MPI_SUCCESS || told ? code : refuse(descriptor, code);
}

int no_request(const MessageDescriptor& descriptor) { return refuse(descriptor, MPI_ERR_NO_MEM); }

Request& make_message(const MessageDescriptor& descriptor) {
  Request& request = *make_request();
  request.type = RequestType::message;
  request.message.describe(descriptor);
  descriptor.endpoint_comm->retain();
  if (descriptor.type != nullptr) datatype_of(descriptor).retain();
  return request;
}

int prepare_message(const MessageDescriptor& descriptor, MPI_Request* handle) {
  if (!have_request()) return no_request(descriptor);
  endpoint()->expect_pairs();
  Request& request = make_message(descriptor);
  request.persistent = true;
  *handle = request.handle();
  return MPI_SUCCESS;
}

int start_message(Request& request) {
  p2p::Endpoint& here = *endpoint();
  if (!messages::by_endpoint(request.message.descriptor.carrier) && request.message.descriptor.endpoint_comm->gone()) {
    return refuse(request.message.descriptor, MPI_ERR_COMM);  // disconnected
  }
  if (have_devices()) {
    if (const int code = stage_message(request); code != MPI_SUCCESS) {
      return refuse(request.message.descriptor, code);
    }
  }
  const MessageDescriptor& descriptor = request.message.descriptor;
  request.active = true;
  if (!messages::by_endpoint(descriptor.carrier)) {
    request.message.mixed = messages::MixedReceive::start(*mixed_queue, descriptor, &request);
    expect(descriptor);
  } else if (request.persistent && descriptor.to != nullptr) {
    request.message.open =
        here.start(request.message.persistent, *descriptor.to, descriptor.envelope, descriptor.buffer, descriptor.mode);
  } else if (request.persistent && !descriptor.is_send()) {
    request.message.open = &here.start(request.message.persistent, descriptor.envelope, descriptor.buffer);
  } else if (!descriptor.is_send()) {
    request.message.open = &here.receive(descriptor.envelope, descriptor.buffer);
  } else {
    request.message.open = open_send(descriptor);
  }
  if (request.message.open != nullptr) expect(descriptor);
  if (descriptor.is_send() && request.message.open != nullptr && descriptor.mode == p2p::Mode::buffered) {
    retain(descriptor.buffer);
    give_back(*request.message.open);
    request.message.open = nullptr;
  }
  return MPI_SUCCESS;
}

int start_staged(const MessageDescriptor& descriptor, MPI_Request* handle) {
  if (!have_request()) return no_request(descriptor);
  Request& request = make_message(descriptor);
  const int code = start_message(request);
  if (code != MPI_SUCCESS) {
    destroy_request(&request);
  } else {
    *handle = request.handle();
  }
  return code;
}

int send_other_later(const MessageDescriptor& descriptor, MPI_Request* handle) {
  const bool buffered = descriptor.mode == p2p::Mode::buffered;
  if (!buffered && !have_request()) return no_request(descriptor);
  p2p::Request* open = open_send(descriptor);
  if (open != nullptr) expect(descriptor);
  if (open != nullptr && buffered) {
    retain(descriptor.buffer);
    give_back(*open);
  }
  if (open == nullptr || buffered) {
    *handle = finished_send();
    return MPI_SUCCESS;
  }
  Request& request = make_message(descriptor);
  request.active = true;
  request.message.open = open;
  *handle = request.handle();
  return MPI_SUCCESS;
}

int send_beside(Request& request, MessageDescriptor send) {
  if (have_devices()) {
    if (const int code = stage_beside(request, send); code != MPI_SUCCESS) {
      return refuse(request.message.descriptor, code);
    }
  }
  request.message.beside = open_send(send);
  if (request.message.beside == nullptr) return MPI_SUCCESS;
  expect(send);
  retain(send.buffer);  // the request retains the receive's datatype only
  if (send.mode == p2p::Mode::buffered) {
    give_back(*request.message.beside);
    request.message.beside = nullptr;
  }
  return MPI_SUCCESS;
}

void wait_for_message(Request& request) {
  for (p2p::Request* part : {request.message.open, request.message.beside}) {
    if (part != nullptr) endpoint()->wait(*part);
  }
  if (request.message.mixed != nullptr) {
    p2p::Backoff backoff(endpoint()->port(), endpoint()->backoff_settings());
    wait_for(*request.message.mixed, backoff);
  }
}

void note_unsuccessful_call() {
  // Polls in each call, since a large message of the MPI library's may need thousands of polls. Does not yield the
  // core: another rank may keep it for a whole time slice.
  if (endpoint() == nullptr) return;
  if (link() != nullptr) link()->ask_next();
  endpoint()->backoff_settings().poll();
}

RequestResult finish_message(Request& request, MPI_Status* status) {
  MessageState& message = request.message;
  RequestResult result;
  int& code = result.code;
  if (message.mixed != nullptr) {
    const std::unique_ptr<messages::MixedReceive> mixed = take_mixed(request);
    code = end_mixed(mixed->end(), status, &result.told);
  } else {
    message_status(request, status);
  }
  if (message.beside != nullptr) {
    if (code == MPI_SUCCESS) code = outcome_of(*message.beside);
    give_back(*message.beside);
  }
  if (message.open != nullptr) {
    if (code == MPI_SUCCESS) code = outcome_of(*message.open);
    if (request.persistent && !message.descriptor.is_send()) {
      endpoint()->release(message.persistent, *message.open);
    } else {
      endpoint()->release(*message.open);
    }
  }
  message.open = message.beside = nullptr;
  return result;
}

void message_status(const Request& request, MPI_Status* status) {
  const MessageState& message = request.message;
  if (message.mixed != nullptr) {
    const messages::MixedReceive::End end = message.mixed->settled();
    int flag = 0;
    if (end.request.has_value()) {
      native.Request_get_status(handle_of<MPI_Request>(*end.request), &flag, status);
    } else {
      set_status(status, end.result);
    }
  } else if (!message.descriptor.is_send() && message.open != nullptr) {
    set_status(status, message.open->result);
  } else if (!message.descriptor.is_send() && request.active) {
    nobodys_status(status);
  } else {
    empty_status(status);
  }
}

bool abandon_message(Request& request) {
  MessageState& message = request.message;
  end_pair(request);
  if (message.open != nullptr) {
    retain(message.open->buffer);
    leave_behind(*message.open, *message.descriptor.endpoint_comm);
  }
  if (message.beside != nullptr) leave_behind(*message.beside, *message.descriptor.endpoint_comm);
  message.open = message.beside = nullptr;
  return message.mixed != nullptr && message.mixed->abandon();
}

std::unique_ptr<messages::MixedReceive> take_mixed(Request& request) {
  const LockGuard guard(ending_lock);
  return std::move(request.message.mixed);
}

void cancel_message(Request& request) {
  MessageState& message = request.message;
  if (message.mixed != nullptr) message.mixed->cancel();
  if (!message.descriptor.is_send() && message.open != nullptr) endpoint()->cancel(*message.open);
}

void give_way() {
  const p2p::BackoffSettings& backoff_settings = endpoint()->backoff_settings();
  if (backoff_settings.poll != nullptr) backoff_settings.poll();
  if (backoff_settings.oversubscribed) sched_yield();
}

}  // namespace urakata::shim
