// SPDX-License-Identifier: BSD-3-Clause
// The neighbours of a halo of urakata.h meet: each rank describes its channels to the ranks that it sends to, and
// compares what it receives with what it expects. A rank needs to know its own neighbours only. Lists that do not fit
// together are found, and no rank waits for a message that never comes (T. Hoefler, C. Siebert, A. Lumsdaine: Scalable
// communication protocols for dynamic sparse data exchange, PPoPP 2010: synchronous sends, then a barrier that does not
// block).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "halo/channel_end.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

// A sender's description of a channel, for its receiver.
struct ChannelWord {
  std::uint64_t bytes = 0;
  halo::Record record{};  // record.channel is nullptr if the sender has no neighbourhood channel
};

// Collective over a communicator on which there are no other messages. The k-th entry of `destinations` that names a
// rank meets the k-th entry of that rank's `sources` that names this rank. `words`: by destination. The result has a
// word for each source, an empty one for MPI_PROC_NULL. Error, on this rank only: too many words came, or too few.
Result<std::vector<ChannelWord>> meet(MPI_Comm comm, std::span<const int> destinations,
                                      std::span<const ChannelWord> words, std::span<const int> sources);

}  // namespace urakata::shim
