// SPDX-License-Identifier: BSD-3-Clause
// The endpoint communicators of this process (messages/endpoint_comm.hpp): from a communicator's handle to its endpoint
// communicator.
//
// Messages on communicators that are not known (shim/communicators/communicator_origin.hpp) fall back, as do those on
// communicators of which the endpoint reaches no other rank. Both ranks of a pair decide alike, since all ranks know
// which ranks share a space and which have a link.
//
// Thread-safety: endpoint_comm(), look_up_endpoint_comm(), known_endpoint_comm(), for_each_endpoint_comm() and
// forget_closed_endpoint_comm() by any thread; the others as MPI says of the calls that they stand for.
#pragma once

#include <functional>

#include "base/handle_map.hpp"
#include "job/contexts.hpp"
#include "messages/endpoint_comm.hpp"
#include "shim/communicators/error_handler.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

using messages::EndpointComm;

inline MPI_Comm comm_of(const EndpointComm& endpoint_comm) { return handle_of<MPI_Comm>(endpoint_comm.communicator); }
inline ErrorTarget error_target(const EndpointComm& endpoint_comm) {
  return {comm_of(endpoint_comm), endpoint_comm.gone(), endpoint_comm.gone() ? endpoint_comm.freed().handler : 0};
}

using EndpointComms = HandleMap<MPI_Comm, EndpointComm>;
// endpoint_comm() of a handle that the thread has not asked for lately.
EndpointComm* look_up_endpoint_comm(MPI_Comm handle);

// The endpoint communicator of a communicator; nullptr: messages on it fall back.
inline EndpointComm* endpoint_comm(MPI_Comm handle) {
  const EndpointComms::Found found = EndpointComms::recall(handle);
  return found.known ? found.object : look_up_endpoint_comm(handle);
}

// The same for calls that free communicators: a handle that is not known stays unknown.
EndpointComm* known_endpoint_comm(MPI_Comm handle);

// The MPI library's side of receives, for all endpoint communicators: set before the first is opened
// (messages/native_receive_calls.hpp), and constant from then on.
extern constinit messages::NativeReceives* native_receives;

// Opens the endpoint communicator of a new communicator that has these numbers, if the endpoint reaches others of its
// ranks. Does nothing on a rank without an endpoint.
void open_endpoint_comm(MPI_Comm made, const job::MemberContexts& contexts);

// Visits all, also those whose communicators the program has freed while requests were open. `visit` runs under locks:
// it must call no function of this header.
void for_each_endpoint_comm(const std::function<void(const EndpointComm&)>& visit);

// The program has given the communicator these hints.
void note_assertions(MPI_Comm handle, MPI_Info info);

// The program has freed or disconnected the communicator. `freed`: the result of before_free()
// (requests/open_requests.hpp).
void close_endpoint_comm(MPI_Comm handle, const EndpointComm::Freed& freed);
// The MPI library is about to free the handle: only this thread finds its endpoint communicator until
// close_endpoint_comm() or restore_endpoint_comm().
void withdraw_endpoint_comm(MPI_Comm handle);
// The MPI library has refused to free the handle: undoes withdraw_endpoint_comm().
void restore_endpoint_comm(MPI_Comm handle);
// The last user of a closed endpoint communicator is gone: releases its kept error handler.
void forget_closed_endpoint_comm(const EndpointComm& endpoint_comm);

}  // namespace urakata::shim
