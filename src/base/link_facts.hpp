// SPDX-License-Identifier: BSD-3-Clause
// What a link between two sites carries.
#pragma once

#include <cstdint>

namespace urakata {

// Connections of a pair of ranks: with so many what two nodes carry is measured, and no operation uses more.
inline constexpr std::uint32_t kMostStreams = 16;

// Rates in bytes/s, of payload.
struct LinkFacts {
  double delay = 0;   // s, one way
  double stream = 0;  // one connection
  double pair = 0;    // two nodes, over as many connections as help
  double link = 0;    // all nodes together
  double inside = 0;  // two nodes of a site, while the others of it do as well; of the site that has less; 0: not known
  double loss = 0;    // of packets where connections do not crowd each other out, those that were sent again; 0 to 1
};

// How many connections a pair of ranks uses over a link.
struct Streams {
  std::uint32_t most = 0;   // 0: as many as the transport has
  std::uint32_t first = 0;  // with those that only take what goes first after a pause; at least `most`
};

}  // namespace urakata
