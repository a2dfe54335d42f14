// SPDX-License-Identifier: BSD-3-Clause
// What transport `stripes` counts, and what the kernel has counted for it.
#pragma once

#include <cstdint>

namespace urakata::transport {

// What has gone to a rank.
struct StripeTraffic {
  std::uint64_t bytes = 0;  // payload
  std::uint64_t acked = 0;  // bytes of it that have been acknowledged
  std::uint64_t pieces = 0;
  std::uint64_t again = 0;    // pieces of lost stripes, sent anew
  std::uint32_t stripes = 0;  // the most at a time
  std::uint32_t lost = 0;     // stripes
};

// What stripes have carried: bytes that the other node has acknowledged, and the time in which one of the stripes had
// some to carry.
struct StripeIncrease {
  std::uint64_t bytes = 0, us = 0;
};

// TCP's packets with data that the stripes to a rank have sent, without those of lost stripes, and how many of them
// again.
struct StripePackets {
  std::uint64_t sent = 0, again = 0;
  std::uint64_t arrived = 0;  // bytes, also of what came behind one that was lost; 0 where the kernel does not tell
};

// A period in which messages to a site were under way: from the first byte that was to go there until all had come.
struct BusyPeriod {
  std::uint64_t bytes = 0;  // 0: there was none
  double seconds = 0;
  std::uint32_t connections = 0;
};

}  // namespace urakata::transport
