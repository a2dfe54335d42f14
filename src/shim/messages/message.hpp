// SPDX-License-Identifier: BSD-3-Clause
// The program's own messages on an endpoint communicator: from the descriptor to the endpoint, and from the endpoint's
// results to an MPI_Status. The fast path of small messages is in fast_calls.hpp.
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

// Whether `comm` has an endpoint communicator, and `rank` is one of its ranks that the endpoint does not reach.
bool outside(int rank, MPI_Comm comm);
// Whether a receive or a probe is from a rank outside and need not wait for earlier receives, so that the call may fall
// back at once.
inline bool at_once(const MessageDescriptor& descriptor) {
  return descriptor.carrier == Carrier::by_native && mixed_queue->free_for_native(copy_of(descriptor));
}
// The same for all starts of a persistent receive.
inline bool always_at_once(const MessageDescriptor& descriptor) {
  return descriptor.carrier == Carrier::by_native && descriptor.endpoint_comm->unordered();
}

// Retains the layout of a buffer, if it has one, for a request of the endpoint. Done before give_back() or
// leave_behind(), after which the endpoint releases the layout when the request is over.
inline void retain(const p2p::Buffer& buffer) {
  if (buffer.layout != nullptr) static_cast<const Datatype*>(buffer.layout)->retain();
}
void release_layout(const p2p::Request& request);
inline void give_back(p2p::Request& request) {
  endpoint()->release(request, request.buffer.layout != nullptr ? release_layout : nullptr);
}
// As give_back(), for an unfinished request that the program has freed: MPI_Comm_disconnect waits for it.
void leave_behind(p2p::Request& request, EndpointComm& endpoint_comm);

// Starts a send at the endpoint, as Endpoint::send(). nullptr: the send is finished.
p2p::Request* open_send(const MessageDescriptor& descriptor);
// The end of a blocking call's send, whose buffer is retained: returns when the program may use the buffer again. The
// result is an MPI error code; the error handler has been called.
int end_send(p2p::Request& request, const MessageDescriptor& descriptor);

// Blocking calls whose message is not on the fast path. The result is an MPI error code; the error handler has been
// called.
int send_other_now(const MessageDescriptor& descriptor);
int receive_other_now(const MessageDescriptor& descriptor, MPI_Status* status);
// Calls the error handler of the descriptor's communicator with `code`, and returns `code`.
int refuse(const MessageDescriptor& descriptor, int code);

// refuse() with MPI_ERR_NO_MEM, for a call for which no request is left (have_request() of request.hpp).
[[gnu::cold]] int no_request(const MessageDescriptor& descriptor);
// Makes a request for the descriptor, and does not start it. have_request() must have returned true.
Request& make_message(const MessageDescriptor& descriptor);
// Starts the request of a message. The result is an MPI error code. After an error (the buffer cannot be staged, or the
// communicator was disconnected) the error handler has been called and the request is inactive.
int start_message(Request& request);
// Makes the request of a persistent message. The result is MPI_SUCCESS, or that of no_request().
int prepare_message(const MessageDescriptor& descriptor, MPI_Request* handle);
// Starts a send off the fast path, and sets `*handle` to its request. The result is as that of prepare_message().
int send_other_later(const MessageDescriptor& descriptor, MPI_Request* handle);
// Starts a send that becomes part of a request which is not started yet. The result is as that of start_message().
int send_beside(Request& request, MessageDescriptor send);
// Makes and starts the request of a message whose buffer must be staged, or of a receive that may come from outside the
// space. The result is as that of start_message(), or that of no_request().
[[gnu::cold]] int start_staged(const MessageDescriptor& descriptor, MPI_Request* handle);
void wait_for_message(Request& request);
// To be called when a call that tests requests has found none done: polls the MPI library, as a wait would. Does
// nothing if the rank has no endpoint.
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
// As MPI_Request_free: an active message ends without the program. False: the caller destroys the request. True: the
// request is destroyed when its message is over, and the caller must not touch it any more.
bool abandon_message(Request& request);

// Takes the mixed receive out of a request, which has one. MPI_Comm_disconnect may look at it from another thread until
// then.
std::unique_ptr<messages::MixedReceive> take_mixed(Request& request);

// Ends the matched persistent pair of a persistent request, if it has one.
void end_pair(Request& request);

// As MPI_Cancel: a receive that is not matched is done then; everything else goes on.
void cancel_message(Request& request);

// To be called after an unsuccessful probe: polls, and yields the core if ranks share cores. A program that probes in a
// loop must not keep the core from the rank that it waits for.
void give_way();

}  // namespace urakata::shim
