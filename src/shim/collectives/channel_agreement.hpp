// Whether a persistent neighbourhood collective is to have exchange plans: each rank of its communicator answers in the
// call that makes it, and the least answer counts.
//
// A rank whose arguments are wrong is told so by the host, in that call and at once, as without Urakata: it sends its
// answer and waits for nobody. So this is no collective of the host's, where all would wait for it, or meet the next
// one that it calls. Each rank sends the least answer that it knows to those 1, 2, 4... ranks further on in turn, and
// hears those that are as far behind, which brings every answer to every rank (D. Hensgen, R. Finkel, U. Manber: Two
// algorithms for barrier synchronization, 1988). One that refuses sends that to all of them; whoever hears it passes it
// on, so all hear of it.
//
// From then on such collectives of that communicator are the host's, and nothing is asked any more: who refuses does
// not know whether the others are in this call, too, with right arguments, or whether it is alone. All hear of it in
// their own next call, whichever that is, so all leave the same calls to the host, where what the host alone would do
// becomes of them.
//
// Thread-safety: by one thread for each communicator.
#pragma once

#include <cstdint>

#include "shim/communicators/communicator.hpp"

namespace urakata::shim {

enum class ChannelAnswer : std::uint32_t { refused, no, yes };

// Collective over the communicator, but for ranks that refuse. On all others the result is the same.
ChannelAnswer agree_on_channel(Communicator& comm, ChannelAnswer own);

// The host has to say of this rank's call that it is wrong. Waits for nobody.
void refuse_channel(Communicator& comm);

}  // namespace urakata::shim
