// SPDX-License-Identifier: BSD-3-Clause
// Finds out whether the kernel of another node answers, although a process there has not accepted a connection.
//
// A process that only computes accepts no connection. Its kernel completes connections for it until the accept queue is
// full (net.core.somaxconn). From then on the kernel drops every request for a connection to that listener, as a node
// that is gone would. It still answers at other ports: it refuses a connection where no process listens. So a probe
// connects to the port beside the listener's, which a firewall treats like the listener's own. Any answer counts, a
// refusal too.
//
// Thread-safety: none. No call blocks.
#pragma once

#include "transport/wire/sockets.hpp"

namespace urakata::transport {

class NodeProbe {
 public:
  // Asks the node of this listener.
  explicit NodeProbe(const ListenAddress& listener);
  ~NodeProbe();
  NodeProbe(const NodeProbe&) = delete;
  NodeProbe& operator=(const NodeProbe&) = delete;

  // Whether the node's kernel has answered since this object was made.
  bool answered();

 private:
  void finish(int error);  // of the connection; 0: it was accepted

  int socket_ = -1;  // -1: nothing is under way
  bool answered_ = false;
};

}  // namespace urakata::transport
