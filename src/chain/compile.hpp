// SPDX-License-Identifier: BSD-3-Clause
// Compiles a schedule to a chained schedule (chained_schedule.hpp). Thread-safety: all by any thread.
//
// Streams. A stream is all messages from one rank to another. They share one connection and have no headers, so sender
// and receiver must agree on their order, each from its own schedule alone: by channel, then by the order within it.
//
// Chains. A request of a chain begins only after the one before it. That is more order than the schedule asks for, and
// may be too much: a send that waits for room at its receiver delays everything behind it. So each stream is a chain of
// its own. A gate stands where the schedule has an edge between two streams that nothing else implies. All messages
// form one chain where such a delay does no harm:
//   - messages so short that the sockets' buffers take all that an operation sends to a peer (kShortBytes). Sends come
//     as early as their edges allow;
//   - messages that run down a tree, where each rank receives from its parent only (Style::downhill).
// Tests run the chains of all ranks against each other, for each operation, algorithm and number of ranks up to 64.
//
// Other nodes. Copies that wait for no message are made before the chains. Copies that wait for messages, and for which
// no message waits, are made after the chains. A schedule with other copies, or with reductions, cannot be chained.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "chain/chained_schedule.hpp"

namespace urakata::chain {

// Most entries of a chained schedule.
inline constexpr std::uint64_t kMostEntries = 32'768;

// If one operation sends no more bytes than this to a rank, no send waits for the receiver: half of the buffer that
// Linux gives a socket at first (default of net.ipv4.tcp_wmem).
inline constexpr std::uint64_t kShortBytes = 8192;

struct Style {
  bool downhill = false;                    // whether each rank receives from its parent in a tree only
  std::uint64_t short_bytes = kShortBytes;  // bytes of a stream up to which no send waits
};

// An upper bound of the number of entries. Error: why the schedule cannot be chained. Does not walk iterations.
Result<std::uint64_t> most_entries(const schedule::Schedule& schedule);

// Error: why the schedule cannot be chained. May fail where most_entries() does not.
Result<ChainedSchedule> compile(const schedule::Schedule& schedule, const Style& style);

}  // namespace urakata::chain
