// SPDX-License-Identifier: BSD-3-Clause
// A chained schedule: one rank's schedule as the kernel can run it, in chains of requests of which each begins when the
// one before it has ended well (io_uring's links).
//
// Entries of a chain follow each other; chains run beside each other. Where a message of one chain must wait for one of
// another, the one signals a *gate* after itself and the other waits there before itself; the k-th wait of a gate goes
// on at the k-th signal.
//
// Bytes travel without headers: all messages of a rank to a peer are one stream of bytes, in an order that both sides
// compute alike (compile.hpp). Chained schedules are immutable and name buffers by number, as schedules do.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace urakata::chain {

enum class Act : std::uint8_t { send, receive, signal, wait };

// Stands for the buffer of a message without payload, of which one byte travels.
inline constexpr schedule::BufferId kToken = ~schedule::BufferId{0};

struct Entry {
  Act act = Act::send;
  bool linked = false;     // the next entry belongs to the same chain
  std::uint16_t whom = 0;  // message: index in ChainedSchedule::peers; else: the gate
  std::uint32_t bytes = 0;
  schedule::BufferId buffer = 0;
  std::int64_t offset = 0;
};

// Bytes that the owner moves, before the chains begin or after they have ended.
struct Copy {
  schedule::BufferId from = 0;
  schedule::BufferId to = 0;
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;
  std::uint64_t bytes = 0;
};

struct ChainedSchedule {
  std::vector<Entry> entries;        // chain after chain
  std::vector<std::uint32_t> peers;  // ranks of the group, ascending
  std::uint32_t chains = 0;
  std::uint32_t gates = 0;
  std::vector<Copy> before;  // in this order
  std::vector<Copy> after;
  std::uint64_t bytes = 0;  // of all messages
};

}  // namespace urakata::chain
