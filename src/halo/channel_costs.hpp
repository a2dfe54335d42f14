// SPDX-License-Identifier: BSD-3-Clause
// Which payloads of a neighbourhood channel take which way.
//
// Thread-safety: plain data.
#pragma once

#include <cstdint>

#include "p2p/pieces.hpp"

namespace urakata::halo {

// Sizes from which payloads take which way, as the receiver of a channel decides. Ranks may differ, but not in
// shared_most.
//
// The defaults make a program's whole iteration short, in which the program writes what it sends and reads what it has
// received. If another core has read a cache line in place, writing the line again costs a cache miss. The program
// pays for it outside of the exchange, and pays most if it writes a few bytes at a time. The measurement is
// tests/halo/bench_test.cpp on an EPYC, with two ranks on cores apart. Bounce buffers filled by ordinary stores take
// the following parts of the time that
//                            4 KiB   8 KiB   32 KiB  256 KiB
//     the receiver pulls     0.5     0.7     0.8     0.6 to 1.2    blocks of 64 B and more
//                            0.3     0.3     0.24    0.24          blocks of 8 B
//     direct puts take       1       1       0.9     0.5 to 1
//                            1       0.7     0.45    0.21
// On two threads of one core the part is 0.9 to 1.2 for long blocks. On Granite Rapids bounce buffers take 0.8 to 0.9
// of the time of direct puts. A rendezvous that both ranks copy takes as long as a pulled one. The exchange alone,
// from start to wait, takes 0.4 of the time if 32 KiB are pulled. Filled by p2p::pack_across(), bounce buffers take
// 0.7 of the above.
struct Costs {
  std::uint64_t pull_least = 64 << 10;    // bytes from which payloads of a symmetric relation are pulled
  std::uint64_t bounce_most = 64 << 10;   // bytes up to which a channel that is not pulled has bounce buffers
  std::uint64_t direct_least = 64 << 10;  // bytes from which a channel with bounce buffers has ready flags as well
  // Bytes up to which a channel has bounce buffers and is neither pulled nor put to directly, if the receiver's blocks
  // are shorter than a cache line on average.
  std::uint64_t short_bounce_most = 1 << 20;
  // Bytes below which ends between the same two ranks share a channel. Each flag saved gains two ranks tenths of a
  // microsecond, which is little beside the copying of more bytes than this. Ranks that differ do not fit together.
  std::uint64_t shared_most = 64 << 10;
  std::uint64_t bounce_budget = 16 << 20;  // most bytes for BounceBuffers::bytes
  p2p::PieceSizes pieces = {};             // pieces of a rendezvous that both ranks copy
  // bounce_most for channels between nodes. Asking takes half a round trip: 25 us over the networks that transport
  // wire is for. In that time 512 KiB can be copied from a bounce buffer (20 GB/s and less). A receiver that begins in
  // time has no such copy.
  std::uint64_t far_bounce_most = 512 << 10;

  bool operator==(const Costs&) const = default;
};

}  // namespace urakata::halo
