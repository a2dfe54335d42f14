// SPDX-License-Identifier: BSD-3-Clause
// What an offload does about frames that are lost: it asks for rows that are missing, asks others whether they have
// this rank's, and finds out whether their nodes answer at all. eBPF code does so whatever the process there is doing.
//
// A function that returns false has found a node that does not answer for the timeout, and has told the user: the
// offload is then broken.
//
// Thread-safety: by the thread that owns the offload.
#pragma once

#include <cstdint>
#include <vector>

#include "xdp/cells.hpp"
#include "xdp/frame_sender.hpp"
#include "xdp/retry_timer.hpp"

namespace urakata::xdp {

class Retransmission {
 public:
  Retransmission(const Cells& cells, FrameSender& frames, std::uint64_t timeout_ns)
      : cells_(cells), frames_(frames), timeout_ns_(timeout_ns) {}
  void join(std::uint32_t ranks) { heard_ns_.assign(ranks, 0); }

  // This operation is the first of those begun, and has a cell: asks for the rows that it lacks, if it is time to.
  bool request_missing(std::uint32_t number, std::uint32_t form, std::uint64_t now_ns);
  // Another operation is the first now.
  void note_ended() { missing_.stop(); }

  // The oldest cell is wanted: if it is time to, asks those that may not have this rank's row whether they have it, and
  // sends it again to those that were asked before.
  bool ask_whether_received(std::uint64_t now_ns);
  // The same, before the cell is wanted: `next` is the number of the next operation. Once for each cell.
  void ask_ahead(std::uint32_t next);
  // There is another oldest cell now.
  void note_freed() { unconfirmed_.stop(); }

 private:
  void ask(std::uint32_t other, bool again);
  void hear_from(std::uint64_t now_ns);
  bool hears(std::uint32_t other, std::uint64_t now_ns);

  const Cells& cells_;
  FrameSender& frames_;
  const std::uint64_t timeout_ns_;
  std::vector<std::uint64_t> heard_ns_;  // of each rank: when its node answered last, or waiting for it began
  RetryTimer missing_;                   // rows of others
  RetryTimer unconfirmed_;               // the row in the oldest cell
  std::uint32_t asked_ahead_ = 0;  // the receivers of all operations before this one were asked ahead, or need not be
};

}  // namespace urakata::xdp
