// What a link between two sites carries.
#pragma once

namespace urakata {

// Rates in bytes/s, of payload.
struct LinkFacts {
  double delay = 0;   // s, one way
  double stream = 0;  // one connection
  double pair = 0;    // two nodes, over as many connections as help
  double link = 0;    // all nodes together
};

}  // namespace urakata
