// SPDX-License-Identifier: BSD-3-Clause
// Accepted connections that wait for their owner, which is not the Wire: those of the program's own messages
// (wire_link.hpp), or stripes (stripes.hpp).
//
// Thread-safety: under the Wire's lock, except descriptor(), which any thread may call once open() has returned.
#pragma once

#include <memory>
#include <vector>

#include "transport/wire/connection.hpp"
#include "transport/wire/frame.hpp"

namespace urakata::transport {

// A connection that another process has made with hello_ordered, hello_bulk or hello_stripe. No epoll set watches it.
// Its owner answers by Connector::greet().
struct AcceptedConnection {
  std::unique_ptr<Connection> connection;  // `rank` and `named` are set
  FrameKind kind = FrameKind::hello_ordered;
};

class AcceptedQueue {
 public:
  AcceptedQueue() = default;
  ~AcceptedQueue();
  AcceptedQueue(const AcceptedQueue&) = delete;
  AcceptedQueue& operator=(const AcceptedQueue&) = delete;

  // Once. False: errno says why.
  bool open();
  // Readable while there are some.
  int descriptor() const { return event_; }
  void add(AcceptedConnection&& one);
  std::vector<AcceptedConnection> take();

 private:
  int event_ = -1;  // eventfd
  std::vector<AcceptedConnection> waiting_;
};

}  // namespace urakata::transport
