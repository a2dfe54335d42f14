// SPDX-License-Identifier: BSD-3-Clause
// This process's endpoint for the program's messages. A process has one if it is a task of a space or has a link. With
// the endpoint come the ports of the ranks in the same space, and the ranks that the link reaches.
//
// Thread-safety: the thread that calls MPI_Init and MPI_Finalize calls enter_space() and leave_space(). Any thread may
// call the rest.
#pragma once

#include <vector>

#include "base/fallback_progress.hpp"
#include "p2p/endpoint.hpp"

namespace urakata::shim {

// Finds out which ranks are in the same space as this one and which its link reaches, and opens the endpoint
// communicator of MPI_COMM_WORLD. Collective over MPI_COMM_WORLD. `wanted`: this rank was started to be in a space;
// ranks that were not call it, too. `progress_thread`: the MPI library cannot call Urakata while the program is blocked
// in it, so a progress thread progresses the messages.
void enter_space(bool wanted, bool progress_thread);

// Collective, once the program sends no more. Returns when all ranks have called it: the messages that they still
// expected from this rank have then been moved.
void leave_space();

// This process's endpoint, constant between enter_space() and leave_space(). nullptr: the process is in no space, and
// its link reaches no rank.
extern constinit p2p::Endpoint* own_endpoint;
inline p2p::Endpoint* endpoint() { return own_endpoint; }

// The progress thread for messages; nullptr: the MPI library calls Urakata instead, or there is no endpoint.
extern constinit FallbackProgress* fallback;
// To be called when the program continues with an open request of the endpoint.
inline void expect_messages() {
  if (fallback != nullptr) fallback->expect();
}
// Ends the progress threads for messages, for a process that ends without MPI_Finalize.
void stop_message_progress();

// The port of a rank of MPI_COMM_WORLD; nullptr: that rank is not in this process's space. For this process's own rank
// it is never nullptr.
p2p::Port* port_of(int world_rank);
// The link's name for that rank; p2p::kNoPeer: the link does not reach it.
p2p::LinkPeer link_to(int world_rank);

// Number of ranks in this rank's space, itself included; 0: it is in none. Stays valid after leave_space().
std::size_t ranks_in_space();

// Whether any rank of the job has an endpoint. All ranks get the same answer.
bool endpoints_in_job();

// The MPI library's largest tag. It is here for quick access by every message.
extern constinit int tag_limit;
inline int largest_tag() { return tag_limit; }

}  // namespace urakata::shim
