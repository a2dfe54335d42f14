// SPDX-License-Identifier: BSD-3-Clause
// What an offload does about lost frames: it asks for rows that are missing, asks other ranks whether they have this
// rank's row, and finds out whether their nodes answer at all. eBPF code answers, whatever the process there is doing.
//
// False from a function: a node has not answered for the timeout, and the user has been told. The caller must then
// discard the offload.
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
  // To be called once, with the number of ranks of the group, before all other functions.
  void join(std::uint32_t ranks) { heard_ns_.assign(ranks, 0); }

  // To be called while this operation is the first of those begun, and has a cell. If it is time to, asks for the rows
  // that it lacks.
  bool request_missing(std::uint32_t number, std::uint32_t form, std::uint64_t now_ns);
  // To be called when the first operation has ended.
  void note_ended() { missing_.stop(); }

  // To be called while an operation waits for the oldest cell. If it is time to, asks the ranks that may not have this
  // rank's row in that cell whether they have it. From the second time on, also sends them the row again.
  bool ask_whether_received(std::uint64_t now_ns);
  // Asks the same once before an operation needs the cell. `next`: number of the next operation to be started.
  void ask_ahead(std::uint32_t next);
  // To be called when the oldest cell has become free.
  void note_freed() { unconfirmed_.stop(); }

 private:
  void ask(std::uint32_t other, bool again);
  void hear_from(std::uint64_t now_ns);
  bool hears(std::uint32_t other, std::uint64_t now_ns);

  const Cells& cells_;
  FrameSender& frames_;
  const std::uint64_t timeout_ns_;
  std::vector<std::uint64_t> heard_ns_;  // by rank: when its node answered last, or waiting for it began
  RetryTimer missing_;                   // for rows of other ranks
  RetryTimer unconfirmed_;               // for this rank's row in the oldest cell
  std::uint32_t asked_ahead_ = 0;  // the receivers of all operations before this one were asked ahead, or need not be
};

}  // namespace urakata::xdp
