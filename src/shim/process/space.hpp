// SPDX-License-Identifier: BSD-3-Clause
// This process's endpoint for the program's messages. A process has one if it is a task of a space or has a link. With
// the endpoint come the ports of the ranks in the same space, and the ranks that the link reaches.
//
// Thread-safety: written by enter_space() and leave_space() (lifecycle/space_entry.hpp), in MPI_Init and MPI_Finalize,
// and constant between; read by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/periodic_progress.hpp"
#include "p2p/endpoint.hpp"

namespace urakata::transport {
class WireLink;
}

namespace urakata::shim {

// This process's endpoint, constant between enter_space() and leave_space(). nullptr: the process is in no space, and
// its link reaches no rank.
[[gnu::visibility("hidden")]] extern constinit p2p::Endpoint* own_endpoint;
inline p2p::Endpoint* endpoint() { return own_endpoint; }

// This process's link, constant after open_link() (messages/wire_messages.hpp), and it stays. nullptr: there is none.
[[gnu::visibility("hidden")]] extern constinit transport::WireLink* own_link;
inline transport::WireLink* link() { return own_link; }

// The progress thread for messages, or, without an endpoint, for neighbourhood channels (start_exchange_progress()).
// nullptr: there is none, for example since the MPI library calls Urakata while it waits.
[[gnu::visibility("hidden")]] extern constinit PeriodicProgress* periodic;
// To be called when the program continues with an open request of the endpoint or an exchange under way.
inline void expect_messages() {
  if (periodic != nullptr) periodic->expect();
}

// What enter_space() has learnt of the ranks of MPI_COMM_WORLD. The functions below read it.
struct RankWays {
  std::vector<p2p::Port*> ports;      // see port_of(); empty: this process has no endpoint
  std::vector<std::uint64_t> spaces;  // the identity of each rank's space; 0: the rank is in none
  std::vector<bool> links;            // whether each rank has a link
};
RankWays& rank_ways();

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
[[gnu::visibility("hidden")]] extern constinit int tag_limit;
inline int largest_tag() { return tag_limit; }

}  // namespace urakata::shim
