// SPDX-License-Identifier: BSD-3-Clause
// A chained schedule: one rank's schedule in a form that the kernel can run: chains of io_uring requests. In a chain
// each request begins when the one before it has succeeded (IOSQE_IO_LINK). Only messages become requests: a schedule
// with reductions has no such form (compile.hpp).
//
// Entries of a chain follow each other; chains run beside each other. If a message of one chain must wait for a message
// of another, the second chain signals a *gate* (an eventfd, gate.hpp) after its message, and the first chain waits at
// the gate before its own. The k-th wait at a gate ends with the k-th signal.
//
// Bytes travel without headers: all messages of a rank to a peer are one stream of bytes, in an order that both sides
// compute alike (compile.hpp). Chained schedules are immutable and name buffers by number, as schedules do.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace urakata::chain {

enum class Act : std::uint8_t { send, receive, signal, wait };

// Stands for the buffer of a message without payload. Such a message travels as one byte.
inline constexpr schedule::BufferId kToken = ~schedule::BufferId{0};

struct Entry {
  Act act = Act::send;
  bool continues = false;   // whether the next entry belongs to the same chain
  std::uint16_t index = 0;  // send, receive: index into ChainedSchedule::peers; signal, wait: number of the gate
  std::uint32_t bytes = 0;
  schedule::BufferId buffer = 0;
  std::int64_t offset = 0;
};

// A copy within the rank, made by the thread that starts the operation (before the chains) or reaps it (after them).
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
  std::vector<Copy> before;  // made in this order, as are those in `after`
  std::vector<Copy> after;
  std::uint64_t bytes = 0;  // payload of all messages, sent and received
};

}  // namespace urakata::chain
