// SPDX-License-Identifier: BSD-3-Clause
// The circles of this process (messages/circle.hpp): from a communicator's handle to its circle.
//
// Communicators that are not known (shim/communicators/communicator_origin.hpp) stay with the host, as do those of which the endpoint
// reaches nobody.
// Both sides of a pair decide alike, since all know who shares a space and who has a link.
//
// Thread-safety: circle() by any thread; the others as MPI says of the calls that they stand for.
#pragma once

#include <functional>

#include "base/handle_map.hpp"
#include "job/contexts.hpp"
#include "messages/circle.hpp"
#include "shim/communicators/error_handler.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

using messages::Circle;

inline MPI_Comm comm_of(const Circle& circle) { return handle_of<MPI_Comm>(circle.communicator); }
inline ErrorTarget error_target(const Circle& circle) {
  return {comm_of(circle), circle.gone(), circle.gone() ? circle.freed().handler : 0};
}

using Circles = HandleMap<MPI_Comm, Circle>;
// circle() of a handle that the thread has not asked for lately.
Circle* look_up_circle(MPI_Comm handle);

// The circle of a communicator; nullptr where its messages are the host's.
inline Circle* circle(MPI_Comm handle) {
  const Circles::Found found = Circles::recall(handle);
  return found.known ? found.object : look_up_circle(handle);
}

// A communicator is known from now on, with these numbers.
void open_circle(MPI_Comm made, const job::MemberContexts& contexts);

// Also those whose communicators the program has freed while requests were open.
void for_each_circle(const std::function<void(const Circle&)>& visit);

// The program has given the communicator these hints.
void note_promises(MPI_Comm handle, MPI_Info info);

// The program is about to free or to disconnect the communicator. Returns what that means for its circle, which stays
// as it is. If the MPI library's communicator is kept, receives may still be pending on it; it is freed after them.
Circle::Freed before_free(MPI_Comm handle, bool disconnects);
// The program has freed or disconnected the communicator; `freed` is what before_free() has returned.
void close_circle(MPI_Comm handle, const Circle::Freed& freed);
// The host is about to free the handle: only this thread finds its circle until close_circle() or restore_circle().
void withdraw_circle(MPI_Comm handle);
// The host has refused.
void restore_circle(MPI_Comm handle);
// The last user of a closed circle is gone.
void forget_closed_circle(const Circle& circle);
// For MPI_Comm_disconnect: waits until no operation on it is pending. An inactive persistent request is not pending.
void drain_circle(MPI_Comm handle);

}  // namespace urakata::shim
