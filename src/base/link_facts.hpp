// What a link between two sites carries.
#pragma once

namespace urakata {

// Rates in bytes/s, of payload.
struct LinkFacts {
  double delay = 0;   // s, one way
  double stream = 0;  // one connection
  double pair = 0;    // two nodes, over as many connections as help
  double link = 0;    // all nodes together
  double inside = 0;  // two nodes of a site, of that of the two whose nodes have less; 0: not known
  double loss = 0;    // of the packets of one connection, those that were sent again; 0 to 1
};

}  // namespace urakata
