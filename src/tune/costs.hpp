// SPDX-License-Identifier: BSD-3-Clause
// What messages cost on a machine, for the choice of algorithms: a table of numbers, each of which option COSTS can
// replace.
//
// Only the ratios of the costs matter, and only roughly: a value that is wrong by a factor of two moves the border
// between two algorithms to where they differ little. The defaults were measured on the project's own machines, or are
// assumed, as each row says. They are not measured when a job starts: runs of the same job could then choose different
// algorithms, and add in different orders. Each rank decides by its own costs, so these must be equal on all ranks. The
// ranks compare option COSTS as a whole: the non-blocking collectives of communicators whose ranks differ fall back.
//
// Some numbers are constants in the code instead: sizes in memory that ranks share (payload in a line, eager messages,
// slots of an inbox), how long loops wait, and how much a step may take.
//
// Thread-safety: all by any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace urakata::tune {

// Costs of the messages of one medium: the members of Costs say which.
struct LinkCosts {
  double step;           // ns from the start of a send until the receiver can go on
  double message;        // ns for each further message, sent and received, while others are under way
  double ask;            // ns more for a rendezvous: a message above eager_bytes
  double segment;        // ns for each further segment of a stream
  double byte;           // ns for each byte moved
  double add;            // ns for each byte reduced
  double segment_bytes;  // longest segment of a message that travels in pieces
};

struct CommonCosts {
  double eager_bytes = 4096;  // longest message that the MPI library sends without asking the receiver
  // ns until the next rank that shares the core runs, and so the least time of a message to a rank on a shared core.
  // Measured with 4 ranks on 2 cores, an allreduce of 32 KiB, as parts of the MPI library's time: 1.5 as rabenseifner
  // (16 messages), 1.25 as recursive doubling (8), 1.0 by way of rank 0 (6).
  double time_slice = 3000;
  double few_ranks = 8;    // up to which a rank can receive from all others at once without contention
  double many_ranks = 32;  // up to which all ranks can send to all others at once without contention
  // Limits of a reduction in which each rank receives all inputs and reduces them itself. Above so many ranks, or so
  // many bytes of inputs in all, the MPI library performs the reduction.
  double inputs_ranks = 64;
  double inputs_bytes = 16 * 1024 * 1024;
  double flat_bytes = 128 * 1024;    // longest message whose readers in memory do not wait for each other
  double cache_bytes = 1024 * 1024;  // shortest block that has left the cache when it is passed on
  double pack_block = 20;            // ns to pack or unpack one small block
};

// Bytes or ratios for p2p::CopyingSettings, which has meaning and reasons.
struct CopyCosts {
  double pack_below = 4 * 1024;
  double share_from = 8 * 1024;
  double share_plain_from = 64 * 1024;
  double short_block = 64;
  double exchange_block = 128;
  double exchange_most = 64 * 1024;
  double loose = 3;
  double crowded = 16;
  double set_aside_most = 64 * 1024;
  double piece_least = 2 * 1024;
  double piece_most = 32 * 1024;
};

// Bytes for neighbourhood channels. halo::Costs has meaning and reasons of all but bounce_total.
struct ChannelCosts {
  double pull_least = 64 * 1024;
  double bounce_most = 64 * 1024;
  double direct_least = 64 * 1024;
  double short_bounce_most = 1024 * 1024;
  double shared_most = 64 * 1024;
  double far_bounce_most = 512 * 1024;
  double bounce_budget = 16 * 1024 * 1024;
  double bounce_total = 64 * 1024 * 1024;  // most bytes for all channels of a process, counted as for bounce_budget
};

struct ProgressThreadCosts {
  double gap = 300'000;  // ns; for engine::ProgressThreadSettings::long_gap_ns, which has the reason
};

// All costs, with their defaults.
struct Costs {
  // Ranks of one node with a core each. The model's error is at most 50 % (2, 3 and 4 ranks, Granite Rapids, Open MPI
  // 5). Segments: a reduction begins when its first segment has arrived. Without a reduction the receiver copies whole
  // messages.
  LinkCosts node = {400, 200, 1800, 4000, 0.1, 0.075, 256 * 1024};
  // Ranks of one node that share cores.
  LinkCosts crowded = {1000, 300, 0, 2000, 0.15, 0.1, 256 * 1024};
  // The MPI library over TCP: a compromise between 1 and 10 Gb/s. Segments: pieces that the MPI library sends without
  // asking the receiver first (Open MPI's TCP: below 64 KiB). Measured over four hosts with 1 Gb/s links: allgather and
  // alltoall from 256 KiB up take 0.6 to 0.75 of the time that whole messages take, a chain's bcast 0.4 instead
  // of 0.65.
  LinkCosts native = {20000, 4500, 0, 10000, 4, 0.1, 32 * 1024};
  // Transport `wire`, with the costs of the MPI library over TCP. Segments: only from 128 KiB on does wire ask the
  // receiver first. With pieces of 64 KiB a progress thread takes 0.85 of the time that it takes with 32 KiB. Longer
  // pieces gain no more: a piece has then left the cache when it is sent on.
  LinkCosts wire = {20000, 4500, 0, 10000, 4, 0.1, 64 * 1024};
  CommonCosts common;
  CopyCosts copy;
  ChannelCosts channel;
  ProgressThreadCosts progress_thread;
};

// A row of the table: node.step is `step` in the TOML table [node].
struct CostRow {
  std::string_view group;
  std::string_view key;
  std::string_view unit;
  std::string_view sentence;
  std::string_view measured;  // by what and where the default was measured; or "assumed"
  double least;               // both ends included
  double most;
  double& (*in)(Costs& costs);

  std::string name() const { return std::string(group) + "." + std::string(key); }
};

std::span<const CostRow> cost_table();

// The row of a cost, "node.step"; most renamed costs are also found by their name in the last release. Error: names the
// nearest cost, the new name, or the command that lists all.
Result<const CostRow*> cost_named(std::string_view name);
// The number in a cost's text. Bytes may be written as 64K. Error: names the cost, the value and the valid range.
Result<double> cost_value(const CostRow& row, std::string_view value);
// The shortest text that reads back as the same number.
std::string written_cost(double value);

// The defaults, with those costs replaced that the list gives: "node.step=500,wire.segment_bytes=128K".
Result<Costs> read_costs(std::string_view list);
// Whether the list gives this cost, by its present name.
bool in_list(std::string_view list, const CostRow& row);

// The costs in force in this process. The first call reads option COSTS, which urakata-exec has turned from a file into
// a list. If the list is wrong, one line goes to standard error and the defaults apply.
const Costs& costs();

}  // namespace urakata::tune
