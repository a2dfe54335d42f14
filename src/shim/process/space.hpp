// This process's endpoint, where it is a task of a space or has a link: with it, the ports of the ranks that share the
// space and who is reached by the link.
//
// Thread-safety: enter_space() and leave_space() by the thread that calls MPI_Init and MPI_Finalize; the rest by any.
#pragma once

#include <vector>

#include "base/fallback_progress.hpp"
#include "p2p/endpoint.hpp"

namespace urakata::shim {

// Finds out who shares a space with this rank and who is reached by its link, and opens the circle of MPI_COMM_WORLD.
// Collective over MPI_COMM_WORLD, also for ranks that were not started to be in a space (`wanted`). `helper`: the host
// cannot call us while the program is blocked in it, so a thread of ours looks after the messages.
void enter_space(bool wanted, bool helper);

// Collective, when the program sends no more: returns when all ranks are here, so that what they still wait for from this rank has been moved.
void leave_space();

// Constant between enter_space and leave_space. nullptr: in no space, and nobody is reached by a link.
extern constinit p2p::Endpoint* own_endpoint;
inline p2p::Endpoint* endpoint() { return own_endpoint; }

// The helper that looks after messages; nullptr where the host does so, or there is none.
extern constinit FallbackProgress* fallback;
// The rank leaves a request of its endpoint open and goes its way.
inline void expect_messages() {
  if (fallback != nullptr) fallback->expect();
}
// The process ends without MPI_Finalize: only the helpers are ended.
void stop_message_helpers();

// The port of a rank of MPI_COMM_WORLD; nullptr where it is not in our space. One that is in none has its own.
p2p::Port* port_of(int world_rank);
// Who it is to the link; p2p::kNoPeer: it is not reached by it.
p2p::LinkPeer link_to(int world_rank);

// How many ranks share this rank's space, with itself; 0: it is in none. Stays after leave_space().
std::size_t ranks_in_space();

// Has any rank of the job an endpoint? The same on all ranks.
bool endpoints_in_job();

// The largest tag of the host, where every message can reach it.
extern constinit int tag_limit;
inline int largest_tag() { return tag_limit; }

}  // namespace urakata::shim
