// The circles of this process (messages/circle.hpp): from a communicator's handle to its circle.
//
// Communicators that are not known (shim/communicator_origin.hpp) stay with the host, as do those of which the endpoint
// reaches nobody.
// Both sides of a pair decide alike, since all know who shares a space and who has a link.
//
// Thread-safety: circle() by any thread; the others as MPI says of the calls that they stand for.
#pragma once

#include <functional>

#include "base/handle_map.hpp"
#include "job/contexts.hpp"
#include "messages/circle.hpp"
#include "shim/abi.hpp"
#include "shim/error_handler.hpp"

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

// The program frees the communicator, or disconnects it. First: what that means for the circle, which stays as it is. Where
// the host's is kept, receives on it may still be the host's, and it is freed behind them.
Circle::Freed before_free(MPI_Comm handle, bool disconnects);
// Then.
void close_circle(MPI_Comm handle, const Circle::Freed& freed);
// The last user of such a circle is gone.
void forget_closed_circle(const Circle& circle);
// Waits until no operation on it is pending, for MPI_Comm_disconnect. A persistent request that is inactive is none.
void drain_circle(MPI_Comm handle);

}  // namespace urakata::shim
