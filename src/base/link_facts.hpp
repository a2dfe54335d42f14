// SPDX-License-Identifier: BSD-3-Clause
// What a link between two sites carries.
#pragma once

#include <cstdint>

namespace urakata {

// The most connections between two ranks that Urakata chooses for a link by itself (option CONNECTIONS may ask for
// more), and the number with which the rate between two nodes is measured.
inline constexpr std::uint32_t kMostStreams = 16;

// Rates are of payload, in bytes/s.
struct LinkFacts {
  double delay = 0;   // s, one way
  double stream = 0;  // rate of one connection
  double pair = 0;    // rate between two nodes, over as many connections as help
  double link = 0;    // rate of all nodes of the two sites together
  double inside = 0;  // rate between two nodes of a site, all pairs there being busy; of the slower site; 0: not known
  double loss = 0;    // share of packets sent again while connections do not crowd each other out; 0 to 1
};

// How many connections a pair of ranks uses over a link.
struct Streams {
  std::uint32_t most = 0;   // 0: as many as the transport has
  std::uint32_t first = 0;  // for the first bytes after a pause, which more connections may carry; at least `most`
};

}  // namespace urakata
