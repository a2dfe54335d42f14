// SPDX-License-Identifier: BSD-3-Clause
// Accepts connections at this process's listen addresses, and keeps them until they have named the job's secret.
//
// A connection that does not name it is closed after a while. Where more than kMostUnauthenticated have not named it,
// those of them that have said nothing for kFirstBytesTime are closed, the oldest first; beyond most_unauthenticated()
// also younger ones. A connection that has named it goes to its owner: by claim() to the Wire, by hand_over() to the
// owner of the program's own messages or of stripes.
//
// Without a descriptor for a connection the listeners stay readable, and would wake all who sleep. So they are not
// watched for a tenth of a second.
//
// Thread-safety: under the Wire's lock; port(), set() and the queues' descriptor() are constant once open() has
// returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/interfaces.hpp"
#include "base/result.hpp"
#include "transport/wire/accepted_queue.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/sockets.hpp"

namespace urakata::transport {

class Acceptor {
 public:
  static constexpr std::size_t kMostUnauthenticated = 64;

  // A connection's node that has not answered for `timeout_ns` is gone.
  explicit Acceptor(std::uint64_t timeout_ns) : timeout_ns_(timeout_ns) {}
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Listens at the addresses `only`; empty: at all of this machine's. Once.
  Status open(std::span<const InterfaceAddress> only);

  // One port, at all addresses at which this process listens.
  std::uint16_t port() const { return listeners_.port; }
  // An epoll set: the listeners and the end of a pause, whose events have no pointer, and the connections here, whose
  // events point to them.
  int set() const { return set_; }

  // A listener is ready, or a pause is over.
  void accept_connections();
  // Hands a connection that has named the secret over to the caller. nullptr: the acceptor does not own it.
  std::unique_ptr<Connection> claim(const Connection& one);
  // The connection, whose first frame this is, goes to ordered_or_bulk() or stripes(). False: it is none of those here.
  bool hand_over(const Connection& from, const Frame& frame);
  AcceptedQueue& ordered_or_bulk() { return ordered_or_bulk_; }
  AcceptedQueue& stripes() { return stripes_; }
  const AcceptedQueue& ordered_or_bulk() const { return ordered_or_bulk_; }
  const AcceptedQueue& stripes() const { return stripes_; }

  // Once in a quarter of the timeout: ends connections that have not named the secret for some of these calls.
  void check();
  // Closes those that are broken, and silent ones where there are too many. No event of set() may be pending.
  void close_surplus();

 private:
  void watch_listeners(std::uint32_t events) const;
  void pause();
  bool end_pause();
  void close_silent();

  const std::uint64_t timeout_ns_;
  ListenSockets listeners_;
  int set_ = -1;
  int pause_end_ = -1;  // timer, made in time: in a pause there may be no descriptor for it
  bool paused_ = false;
  AcceptedQueue ordered_or_bulk_;
  AcceptedQueue stripes_;
  std::vector<std::unique_ptr<Connection>> unnamed_;  // the oldest first
};

}  // namespace urakata::transport
