// SPDX-License-Identifier: BSD-3-Clause
// The program's own messages on an endpoint communicator: from the descriptor to the endpoint, and from its results to
// an MPI_Status. The fast path of a small one is in fast_path.hpp.
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "shim/messages/message_arguments.hpp"
#include "shim/messages/native_receive_calls.hpp"
#include "shim/native/abi.hpp"
#include "shim/requests/request_operations.hpp"

namespace urakata::shim {

struct Request;

// Is it a rank that the endpoint does not reach, on a mixed endpoint communicator?
bool outside(int rank, MPI_Comm comm);
// Is there no need to wait for other receives, so that the MPI library may have a receive from outside, or a probe, at
// once?
inline bool at_once(const MessageDescriptor& descriptor) {
  return descriptor.carrier == Carrier::by_native && mixed_queue->free_for_native(copy_of(descriptor));
}
// The same for all starts of a persistent receive.
inline bool always_at_once(const MessageDescriptor& descriptor) {
  return descriptor.carrier == Carrier::by_native && descriptor.endpoint_comm->unordered();
}

// What a layout is to the endpoint: retained before its request is given back unfinished, or where the program may free
// its type meanwhile; the endpoint releases it when the request is over.
inline void retain(const p2p::Buffer& buffer) {
  if (buffer.layout != nullptr) static_cast<const Datatype*>(buffer.layout)->retain();
}
void release_layout(const p2p::Request& request);
inline void give_back(p2p::Request& request) {
  endpoint()->release(request, request.buffer.layout != nullptr ? release_layout : nullptr);
}
// The same for a request that the program has given back, whose layout is retained: MPI_Comm_disconnect waits for it.
void leave_behind(p2p::Request& request, EndpointComm& endpoint_comm);

// Starts a send at the endpoint: as Endpoint::send().
p2p::Request* open_send(const MessageDescriptor& descriptor);
// The end of a blocking call's send, whose buffer is retained: returns when the program may use the buffer again. The
// result is an MPI error code; the error handler has been called.
int end_send(p2p::Request& request, const MessageDescriptor& descriptor);

// Blocking calls whose message is not on the fast path. The result is an MPI error code; the error handler has been
// called.
int send_other_now(const MessageDescriptor& descriptor);
int receive_other_now(const MessageDescriptor& descriptor, MPI_Status* status);
// The error handler is called. Returns the code.
int refuse(const MessageDescriptor& descriptor, int code);

// No request is left (have_request() of request.hpp) for the call: the error handler is called. The result is
// MPI_ERR_NO_MEM.
[[gnu::cold]] int no_request(const MessageDescriptor& descriptor);
// A request for the descriptor, which is not started, after have_request().
Request& make_message(const MessageDescriptor& descriptor);
// The result is an MPI error code, other than success only where a buffer cannot be staged (or, of those that make the
// request, where none is left); the error handler has been called and the request is inactive.
int start_message(Request& request);
// A persistent one. The result is MPI_ERR_NO_MEM where no request is left.
int prepare_message(const MessageDescriptor& descriptor, MPI_Request* handle);
// A send's request, which is started. The result is as that of prepare_message().
int send_other_later(const MessageDescriptor& descriptor, MPI_Request* handle);
// Starts a send that becomes part of a request which is not started yet. The result is as that of start_message().
int send_beside(Request& request, MessageDescriptor send);
// Messages whose buffer must be staged, or that may come from outside; the results are as those of start_message().
[[gnu::cold]] int start_staged(const MessageDescriptor& descriptor, MPI_Request* handle);
void wait_for_message(Request& request);
// A call that tests requests has found none done. The MPI library moves on as if the call waited. Nothing if the rank
// has no endpoint.
void note_unsuccessful_call();

// The MPI error code of a message that is done.
inline int code_of(const p2p::Result& result) {
  if (result.outcome == p2p::Outcome::failed) return MPI_ERR_OTHER;
  return result.outcome == p2p::Outcome::truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}
// Sets the status of a done request, whose parts the endpoint gets back.
RequestResult finish_message(Request& request, MPI_Status* status);
// The status of a done request that stays as it is.
void message_status(const Request& request, MPI_Status* status);
// As MPI_Request_free: what is active is finished without the program. False: the caller destroys the request. True: it
// is destroyed when it is over, and the caller must not touch it any more.
bool abandon_message(Request& request);

// Ends the matched persistent pair of a persistent request, if it has one.
void end_pair(Request& request);

// As MPI_Cancel: a receive that is not matched is done then; everything else goes on.
void cancel_message(Request& request);

// After an unsuccessful test: a program that tests in a loop must not keep the core from the one it waits for.
void give_way();

}  // namespace urakata::shim
