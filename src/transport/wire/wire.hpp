// SPDX-License-Identifier: BSD-3-Clause
// Transport `wire`: messages between nodes over TCP connections of our own.
//
// If the MPI library's network is TCP, its point-to-point messages cost a progress thread twice the CPU time that the
// bytes themselves cost: the library can only be polled, reads through a buffer, and is woken by each packet. A Wire
// reads each payload straight into its place, and the kernel wakes no thread before a piece is there (SO_RCVLOWAT).
//
// One Wire serves the process. Each progress domain has a port to it, which is the domain's transport (wire_port.hpp).
// A message belongs to the port where it was posted, whichever thread takes it from the network. Messages of one peer
// and tag match in order. A message longer than kEager waits at its sender until its receive is posted
// (wire_sends.hpp). A shorter one that comes unexpected is kept at its receiver (wire_receives.hpp).
//
// A pair of processes has one connection for both directions, made at the first message of either process. A send of
// one process then carries the TCP acknowledgement of what it has received, which would otherwise be a packet of its
// own. If both processes connect at once, the connection of the lower rank stays: the higher rank sends nothing on its
// own connection before the lower rank has sent hello_ack, and the lower rank sends hello_ack only if it has not
// connected itself (pair_connection.hpp).
//
// Every connection begins with the job's secret, so that only processes of the job are accepted (acceptor.hpp).
//
// A node that does not answer any more is noticed within the timeout. On idle connections the kernel probes the other
// node (keepalive). poll() checks from time to time connections with unacknowledged bytes, and connects to peers from
// which a receive is posted (wire_peers.hpp). If a connection has ended here, this process
// ends it for the other process, too, since a path may break in one direction only. A process that is alive may take as
// long as it likes to poll, and to accept a connection (connector.hpp).
//
// Thread-safety: all functions by any thread. One lock, the Wire's own, guards all its parts; the head of each part
// says what is called with the lock held and what takes it. No call blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "transport/failures.hpp"
#include "transport/wire/acceptor.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/connector.hpp"
#include "transport/wire/prober.hpp"
#include "transport/wire/put_sinks.hpp"
#include "transport/wire/sockets.hpp"
#include "transport/wire/wire_events.hpp"
#include "transport/wire/wire_peers.hpp"
#include "transport/wire/wire_puts.hpp"
#include "transport/wire/wire_sends.hpp"

namespace urakata::transport {

class Wire final {
 public:
  static constexpr std::uint64_t kEager = WireSends::kEager;
  static constexpr std::size_t kMostUnauthenticated = Acceptor::kMostUnauthenticated;

  // Opens the listener of this process, whose rank is `rank`, at the addresses `only`; empty: at all of this machine's.
  // A node that has not answered for `timeout_ns` is gone.
  static Result<std::unique_ptr<Wire>> open(std::int32_t rank, Secret secret, Failures& failures,
                                            std::uint64_t timeout_ns, std::span<const InterfaceAddress> only = {});
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // One port, at all addresses at which this process listens.
  std::uint16_t listen_port() const { return acceptor_.port(); }

  // Where each process can be reached, by rank; length 0: not by wire. Once, before the first message.
  void set_addresses(std::vector<ListenAddress> listen_addresses) {
    connector_.set_addresses(std::move(listen_addresses));
  }
  const ListenAddress& address_of(std::int32_t rank) const { return connector_.address_of(rank); }
  bool reaches(std::int32_t rank) const { return address_of(rank).length != 0; }

  // Readable while there is something to do here.
  int descriptor() const { return epoll_; }
  void step() { poll(epoll_); }

  // Before set_addresses(): which address of another process is the right one.
  Prober& prober() { return prober_; }
  // For neighbourhood channels, on the same connections.
  PutWire& puts() { return puts_; }

  // --- for connections that belong to somebody else: those of the program's own messages (wire_link.hpp) ---

  using Accepted = AcceptedConnection;
  // Those made with hello_ordered or hello_bulk.
  std::vector<Accepted> accepted();
  int accepted_descriptor() const { return acceptor_.ordered_or_bulk().descriptor(); }  // readable while there are some
  // The same for those made with hello_stripe (stripes.hpp).
  std::vector<Accepted> accepted_stripes();
  int accepted_stripes_descriptor() const { return acceptor_.stripes().descriptor(); }
  // Accepts who connects. Readable while somebody does: accepting(), a part of descriptor().
  void accept_pending() { poll(accepting()); }
  int accepting() const { return acceptor_.set(); }
  // As Connector.
  std::unique_ptr<Connection> connect_to(std::int32_t rank, FrameKind first, int by) const {
    return connector_.connect_to(rank, first, by);
  }
  void greet(Connection& to, FrameKind kind) const { connector_.greet(to, kind); }
  bool check(Connection& one) const { return connector_.check(one); }
  bool renew(Connection& one) const { return connector_.renew(one); }
  bool named_secret(const Frame& frame) const { return connector_.named_secret(frame); }
  std::int32_t rank() const { return connector_.rank(); }
  std::uint64_t timeout_ns() const { return connector_.timeout_ns(); }

 private:
  friend class WirePort;

  Wire(std::int32_t rank, Secret secret, Failures& failures, std::uint64_t timeout_ns);
  void poll(int set);

  // Constant once open() has returned.
  Failures& failures_;
  const int epoll_;
  // Constant once set_addresses() has returned.
  Connector connector_;

  Mutex lock_;
  // Under the lock, by anyone.
  Acceptor acceptor_;  // its set is in epoll_
  PutSinks sinks_ URAKATA_GUARDED_BY(lock_);
  WirePeers peers_ URAKATA_GUARDED_BY(lock_);
  WireEvents events_ URAKATA_GUARDED_BY(lock_);

  // These take the lock.
  WirePuts puts_;
  Prober prober_;
};

}  // namespace urakata::transport
