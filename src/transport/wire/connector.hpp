// SPDX-License-Identifier: BSD-3-Clause
// Makes connections to other ranks, with the job's secret in their first frame, and watches them until the other
// process has answered.
//
// Such a connection is made anew if the other process may only be computing: its kernel has dropped the connection, or
// the process has closed it as silent. This goes on at each check as long as the kernel of that process's node answers
// (node_probe.hpp). TCP_USER_TIMEOUT does not serve here: it would also end a connection to a process that computes,
// once that process's receive window is closed. (With a closed window the kernel probes ever more seldom, in the end
// every two minutes, and only a probe shows that the node is gone.)
//
// Thread-safety: any thread, without a lock; functions that need a rank's address only after set_addresses(). A
// connection belongs to the caller that has asked for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "transport/wire/connection.hpp"
#include "transport/wire/sockets.hpp"

namespace urakata::transport {

class Connector {
 public:
  // For rank `rank`. A node that has not answered for `timeout_ns` is gone.
  Connector(std::int32_t rank, Secret secret, std::uint64_t timeout_ns)
      : rank_(rank), secret_(secret), timeout_ns_(timeout_ns) {}

  std::int32_t rank() const { return rank_; }
  std::uint64_t timeout_ns() const { return timeout_ns_; }

  // Where each process listens, by rank; length 0: it cannot be reached by wire. Once, before the first call of
  // another thread.
  void set_addresses(std::vector<ListenAddress> listen_addresses) { addresses_ = std::move(listen_addresses); }
  const ListenAddress& address_of(std::int32_t rank) const { return addresses_[static_cast<std::size_t>(rank)]; }

  // A connection to the rank at `listener`, watched by the epoll set `by`; its first frame is on its way. nullptr: it
  // cannot be made; errno says why.
  std::unique_ptr<Connection> connect_to(const ListenAddress& listener, std::int32_t rank, FrameKind first,
                                         int by) const;
  std::unique_ptr<Connection> connect_to(std::int32_t rank, FrameKind first, int by) const {
    return connect_to(address_of(rank), rank, first, by);
  }
  // Sends a frame that names this rank and the secret.
  void greet(Connection& to, FrameKind kind) const;
  bool named_secret(const Frame& frame) const { return frame.bytes == secret_.low && frame.id == secret_.high; }

  // Once in a quarter of the timeout, for a connection to or from a rank. False: it is lost.
  bool check(Connection& one) const;
  // A connection is broken. If this process has made it and the peer's process has not answered on it yet, it is made
  // anew. False: it is lost.
  bool renew(Connection& one) const;

 private:
  int connecting_socket(const ListenAddress& listener) const;
  bool begin_again(Connection& one) const;

  const std::int32_t rank_;
  const Secret secret_;
  const std::uint64_t timeout_ns_;
  std::vector<ListenAddress> addresses_;  // constant once set_addresses() has returned
};

}  // namespace urakata::transport
