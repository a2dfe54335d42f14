// SPDX-License-Identifier: BSD-3-Clause
// Estimates how much of one message's transfer lay between the program's MPI calls. It is part of the message's
// request.
//
// A gap is the time between a call that leaves the message open (its start, or an unsuccessful test) and the next call
// for that message. The transfer's life lasts from when both sides have begun it until it is over. Two sums are taken
// over the gaps: the time of the life in them, and the bytes moved in them. Bytes moved in a gap took no longer than
// the gap, and their share of the life is that of the payload:
//     hidden = min(time of the life in the gaps, bytes moved in them / all bytes * life)
// This is a lower bound if no progress thread moves the message, since bytes count as moved once the kernel has taken
// them, though it may send them in a later gap. An upper bound is the time of the life in the gaps.
//
// Thread-safety: none; only the thread that has the request calls it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "observe/message_site.hpp"

namespace urakata::observe {

// What is known of a transfer at a moment. Times are CLOCK_MONOTONIC in ns; 0: not yet.
struct SeenTransfer {
  std::uint64_t met = 0;    // when both sides had begun the transfer
  std::uint64_t over = 0;   // when the transfer was over, whether or not a call saw it
  std::uint64_t bytes = 0;  // size of the payload; known with `met`
  std::uint64_t moved = 0;  // bytes moved so far
};

class MessageOverlap {
 public:
  // A gap begins: a call returns and leaves the message open.
  void left(std::uint64_t now, const SeenTransfer& seen) {
    left_ns_ = now;
    left_bytes_ = seen.moved;
  }
  // The gap, if there is one, ends: a call for the message begins.
  void entered(std::uint64_t now, const SeenTransfer& seen) {
    if (left_ns_ == 0) return;
    if (seen.met != 0) {
      const std::uint64_t begin = std::max(left_ns_, seen.met);
      const std::uint64_t end = seen.over != 0 ? std::min(now, seen.over) : now;
      if (begin < end) gap_ns_ += end - begin;
      gap_bytes_ += seen.moved - left_bytes_;
    }
    left_ns_ = 0;
  }
  // A call has seen the message's end: adds its times to `site`. Adds nothing if the transfer's life is not known, or
  // if the payload is empty.
  void ended(MessageSite& site, const SeenTransfer& seen) const {
    if (seen.met == 0 || seen.over < seen.met || seen.bytes == 0) return;
    const std::uint64_t life = seen.over - seen.met;
    const double part = static_cast<double>(gap_bytes_) / static_cast<double>(seen.bytes);
    const auto moved = static_cast<std::uint64_t>(part * static_cast<double>(life));
    const std::uint64_t gap = std::min(gap_ns_, life);
    site.transferred(life, gap, std::min(gap, moved));
  }

 private:
  std::uint64_t left_ns_ = 0;     // when the present gap began; 0: there is none
  std::uint64_t left_bytes_ = 0;  // bytes moved by then
  std::uint64_t gap_ns_ = 0;      // time of the life in ended gaps
  std::uint64_t gap_bytes_ = 0;   // bytes moved in ended gaps
};

}  // namespace urakata::observe
