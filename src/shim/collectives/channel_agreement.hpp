// SPDX-License-Identifier: BSD-3-Clause
// The agreement on whether a persistent neighbourhood collective gets a persistent neighbourhood channel. Each rank of
// the communicator answers in the call that makes the collective, and the least answer counts.
//
// A rank whose arguments are wrong must get the MPI library's error in that call and at once, as without Urakata. Such
// a rank sends its answer and waits for no other rank. The agreement is therefore no collective of the MPI library:
// there all ranks would wait for that rank, or would match the next collective that it calls. Instead, each rank sends
// the least answer that it knows to the ranks 1, 2, 4... further on, one after the other, and receives from the ranks
// as far behind. This brings every answer to every rank (D. Hensgen, R. Finkel, U. Manber: Two algorithms for barrier
// synchronization, 1988). A rank that refuses sends the refusal to all of these ranks. Every rank that receives a
// refusal passes it on, so all ranks hear of it.
//
// After a refusal, all such collectives of the communicator fall back to the MPI library, and the ranks agree no more.
// The refusing rank cannot know whether the others are in the same call with right arguments, or whether it is alone.
// Each rank hears of the refusal in its own next call of this kind. All ranks therefore leave the same calls to the
// MPI library, which treats them as it would without Urakata.
//
// Thread-safety: by one thread for each communicator.
#pragma once

#include <cstdint>

#include "shim/communicators/communicator.hpp"

namespace urakata::shim {

enum class ChannelAnswer : std::uint32_t { refused, no, yes };

// Collective over the communicator, except for ranks that refuse. The result is the same on all other ranks.
ChannelAnswer agree_on_channel(Communicator& comm, ChannelAnswer own);

// Refuses, since the MPI library has to report this rank's call as wrong. Waits for no other rank.
void refuse_channel(Communicator& comm);

}  // namespace urakata::shim
