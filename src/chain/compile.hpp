// SPDX-License-Identifier: BSD-3-Clause
// Compiles a schedule to chains. Pure: nothing is sent here.
//
// Order of a stream. All messages of a rank to a peer share one connection and have no headers, so sender and receiver
// must put them in one order, each from its own schedule alone: by channel, then by their order within it.
//
// Chains. A request of a chain begins only after the one before it, which is more order than the schedule asks for, and
// may be too much: a send that waits for room at its receiver keeps what stands behind it from going on. So each stream
// is a chain of its own, with gates where the schedule has an edge from one to another that nothing else implies. All
// messages are one chain where that cannot happen:
//   - messages so short that the sockets' buffers take whatever an operation sends to a peer (kShortBytes), so that no
//     send waits; sends go as early as their edges allow;
//   - messages that run down a tree, of which each rank receives from its parent only (Style::downhill).
// Tests run the chains of all ranks against each other, for each operation, algorithm and number of ranks up to 64.
//
// What is no message: copies that wait for no message are done before the chains, those that no message waits for after
// them. Copies in between, and reductions, cannot be chained.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "chain/chained_schedule.hpp"

namespace urakata::chain {

// Entries of one chained schedule, at most.
inline constexpr std::uint64_t kMostEntries = 32'768;

// An operation's bytes from one rank to another that a connection takes without waiting for the receiver: half of the
// room that Linux gives a socket at first (net.ipv4.tcp_wmem).
inline constexpr std::uint64_t kShortBytes = 8192;

struct Style {
  bool downhill = false;
  std::uint64_t short_bytes = kShortBytes;
};

// How many entries there are at most, or why the schedule cannot be chained. Looks at nodes, not at iterations.
Result<std::uint64_t> most_entries(const schedule::Schedule& schedule);

// The error says why the schedule cannot be chained.
Result<ChainedSchedule> compile(const schedule::Schedule& schedule, const Style& style);

}  // namespace urakata::chain
