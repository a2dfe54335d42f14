// SPDX-License-Identifier: BSD-3-Clause
// How much of one message's transfer lay between the program's calls, as part of its request.
//
// The program is out of MPI's hands between a call that leaves the message open (the one that starts it, or a test in
// vain) and the next that looks after it. Of the transfer's life, from when both sides had begun it until it is over,
// two things are summed up over these gaps: the time, and the bytes that were moved. Bytes that were moved in a gap
// took no longer than the gap, and as large a part of the life as of the payload:
//     hidden = min(time of the life in the gaps, bytes moved in them / all bytes * life)
// What the kernel still moves of a payload that it has taken does not show, so that is the least where nothing of ours
// moved the message in the gaps; the most is the first of the two.
//
// Thread-safety: none; the owner of the request's.
#pragma once

#include <algorithm>
#include <cstdint>

#include "observe/message_site.hpp"

namespace urakata::observe {

// What is known of a transfer at a moment; times are CLOCK_MONOTONIC in ns, 0: not yet.
struct SeenTransfer {
  std::uint64_t met = 0;    // both sides had begun it
  std::uint64_t over = 0;   // it was over, whether anybody saw it or not
  std::uint64_t bytes = 0;  // in all; known with `met`
  std::uint64_t moved = 0;  // of them: so far
};

class MessageOverlap {
 public:
  // The program goes its way, and the message is open.
  void left(std::uint64_t now, const SeenTransfer& seen) {
    left_ns_ = now;
    left_bytes_ = seen.moved;
  }
  // It comes back.
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
  // It has seen the end. Nothing is noted of a message without a transfer of its own, whose life nobody has seen.
  void ended(MessageSite& site, const SeenTransfer& seen) const {
    if (seen.met == 0 || seen.over < seen.met || seen.bytes == 0) return;
    const std::uint64_t life = seen.over - seen.met;
    const double part = static_cast<double>(gap_bytes_) / static_cast<double>(seen.bytes);
    const auto moved = static_cast<std::uint64_t>(part * static_cast<double>(life));
    const std::uint64_t gap = std::min(gap_ns_, life);
    site.transferred(life, gap, std::min(gap, moved));
  }

 private:
  std::uint64_t left_ns_ = 0;  // 0: the program is in a call that looks after it
  std::uint64_t left_bytes_ = 0;
  std::uint64_t gap_ns_ = 0;
  std::uint64_t gap_bytes_ = 0;
};

}  // namespace urakata::observe
