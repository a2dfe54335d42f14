// SPDX-License-Identifier: BSD-3-Clause
// What messages cost on a machine, as decisions reckon with it: a table of numbers, each of which option COSTS can
// replace.
//
// Only their ratios matter, and only roughly: a wrong guess by two moves the border between two algorithms to where
// they differ little. What is here was measured on the project's own machines, as each row says; it is not measured
// when a job starts, since runs of the same job would then add in different orders. All ranks run the same arithmetic,
// so the costs must be equal on all of them. The job compares option COSTS as a whole: communicators of ranks whose COSTS
// differ stay with the MPI library.
//
// What stays a constant in the code: sizes that are laid out in memory which ranks share (payload in a line, eager
// messages, slots of an inbox), and how long loops wait and how much a step may take.
//
// Thread-safety: all by any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace urakata::tune {

// Of the messages of one medium: shared memory, the MPI library between nodes, or the wire.
struct LinkCosts {
  double step;           // ns from the start of a send until the receiver can go on
  double message;        // ns for each further one, sent and received, while others are under way
  double ask;            // ns more for a rendezvous: a message above eager_bytes
  double segment;        // ns for each further segment of a stream
  double byte;           // ns for each byte moved
  double add;            // ns for each byte reduced
  double segment_bytes;  // longest segment of a message that travels in pieces
};

struct CommonCosts {
  double eager_bytes = 4096;  // longest message that the MPI library sends without asking the receiver
  // ns until the next rank that shares the core runs. A message to a rank on a shared core takes at least so long.
  // Measured with 4 ranks on 2 cores, an allreduce of 32 KiB, as parts of the MPI library's time: 1.5 as rabenseifner
  // (16 messages), 1.25 as recursive doubling (8), 1.0 by way of rank 0 (6).
  double time_slice = 3000;
  double few_ranks = 8;    // that one can hear all at once
  double many_ranks = 32;  // up to which all ranks can send to all others at once without contention
  // Limits of a reduction in which each rank receives all inputs and reduces them itself. Above so many ranks, or so
  // many bytes of inputs in all, the MPI library performs the reduction.
  double inputs_ranks = 64;
  double inputs_bytes = 16 * 1024 * 1024;
  double flat_bytes = 128 * 1024;    // up to which readers of the same memory do not wait for each other
  double cache_bytes = 1024 * 1024;  // from which a block has left the cache when it is passed on
  double pack_block = 20;            // ns to pack or unpack one small block
};

// For p2p::CopyingSettings, which has the reasons.
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

// Costs of neighbourhood channels. halo::Costs has the reasons of all but bounce_total.
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

// The defaults.
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
  // The same. Segments: the wire asks the receiver from 128 KiB on only. A progress thread takes 0.85 of the time for
  // pieces of 64 KiB that it takes for such of 32 KiB, and no less for longer ones: what has just come is then no
  // longer in the cache when it is sent on.
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
  std::string_view measured;  // by what the default was, and where; or that it is assumed
  double least;               // both ends included
  double most;
  double& (*in)(Costs& costs);

  std::string name() const { return std::string(group) + "." + std::string(key); }
};

std::span<const CostRow> cost_table();

// Error: the nearest name, or what the group has.
Result<const CostRow*> cost_named(std::string_view name);
// Error: cost, value and what is valid. Bytes may be written as 64K.
Result<double> cost_value(const CostRow& row, std::string_view value);
// As short as it can be written.
std::string written_cost(double value);

// Costs as a list, "node.step=500,wire.segment_bytes=128K", which go before the defaults.
Result<Costs> read_costs(std::string_view list);
bool in_list(std::string_view list, const CostRow& row);

// The costs in force in this process. The first call reads option COSTS, which urakata-exec has turned from a file into
// a list. If the list is wrong, one line goes to standard error and the defaults apply.
const Costs& costs();

}  // namespace urakata::tune
