// SPDX-License-Identifier: BSD-3-Clause
// The endpoint communicators of this process (messages/endpoint_comm.hpp): from a communicator's handle to its endpoint
// communicator.
//
// Communicators that are not known (shim/communicators/communicator_origin.hpp) stay with the MPI library, as do those
// of which the endpoint reaches nobody.
// Both sides of a pair decide alike, since all know who shares a space and who has a link.
//
// Thread-safety: endpoint_comm() by any thread; the others as MPI says of the calls that they stand for.
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

// The endpoint communicator of a communicator; nullptr where its messages are the MPI library's.
inline EndpointComm* endpoint_comm(MPI_Comm handle) {
  const EndpointComms::Found found = EndpointComms::recall(handle);
  return found.known ? found.object : look_up_endpoint_comm(handle);
}

// The same for calls that free communicators; the thread does not remember the answer.
EndpointComm* known_endpoint_comm(MPI_Comm handle);

// The MPI library's side of receives, for all endpoint communicators: set before the first is opened
// (messages/native_receive_calls.hpp), and constant from then on.
extern constinit messages::NativeReceives* native_receives;

// A communicator is known from now on, with these numbers.
void open_endpoint_comm(MPI_Comm made, const job::MemberContexts& contexts);

// Also those whose communicators the program has freed while requests were open.
void for_each_endpoint_comm(const std::function<void(const EndpointComm&)>& visit);

// The program has given the communicator these hints.
void note_assertions(MPI_Comm handle, MPI_Info info);

// The program has freed or disconnected the communicator; `freed` is what before_free() (requests/open_requests.hpp) has
// returned.
void close_endpoint_comm(MPI_Comm handle, const EndpointComm::Freed& freed);
// The MPI library is about to free the handle: only this thread finds its endpoint communicator until
// close_endpoint_comm() or restore_endpoint_comm().
void withdraw_endpoint_comm(MPI_Comm handle);
// The MPI library has refused.
void restore_endpoint_comm(MPI_Comm handle);
// The last user of a closed endpoint communicator is gone.
void forget_closed_endpoint_comm(const EndpointComm& endpoint_comm);

}  // namespace urakata::shim
