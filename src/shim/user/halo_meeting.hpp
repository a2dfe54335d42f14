// SPDX-License-Identifier: BSD-3-Clause
// The neighbours of a halo of urakata.h meet: each rank tells those that it sends to what it sends them, and finds out
// whether what it is told is what it expects. Nobody needs to know more than its own neighbours, and lists that do not
// fit together are found without waiting for anybody who does not come (T. Hoefler, C. Siebert, A. Lumsdaine: Scalable
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

// Collective over a communicator on which there are no other messages. The k-th of `destinations` that is a rank meets
// the k-th of its `sources` that is this one. The result has a word for each source, nothing for MPI_PROC_NULL.
// An error is of this rank alone: too much came, or too little; all others have come to their end, too.
Result<std::vector<ChannelWord>> meet(MPI_Comm comm, std::span<const int> destinations,
                                      std::span<const ChannelWord> words, std::span<const int> sources);

}  // namespace urakata::shim
