// SPDX-License-Identifier: BSD-3-Clause
// Transport `wire`: messages between nodes over TCP connections of our own.
//
// Where the MPI library's network is TCP, its point-to-point costs a progress thread twice the CPU time that the bytes
// themselves cost: it can only be polled, reads through a buffer, and is woken by each packet. A Wire reads each
// payload straight into its place, and has the kernel wake nobody before a piece is there (SO_RCVLOWAT).
//
// One Wire serves the process; each progress domain has a port to it, which is its transport (wire_port.hpp). A message
// belongs to the port where it was posted, whoever takes it from the network. Messages of one peer and tag meet in
// order. A longer one than kEager waits at its sender until its receive is there (wire_sends.hpp); a shorter one that
// comes unexpected is kept at its receiver (wire_receives.hpp).
//
// A pair of processes has one connection, made at the first message of either: what one sends then takes along the
// acknowledgement of what it was sent, which else is a packet of its own. Where both begin at once, the lower rank's
// connection is the one: the higher rank sends nothing on its own before the lower has sent hello_ack, which it does
// only if it has not begun itself (pair_connection.hpp).
//
// Every connection begins with the job's secret, so that only those of the job's own processes are accepted
// (acceptor.hpp).
//
// A node that does not answer any more is noticed within the timeout: the kernel asks on idle connections (keepalive),
// and poll() checks now and then those with bytes that nobody acknowledges, and connects to whoever a receive waits
// for; who watches a rank is connected to it at once (wire_peers.hpp). A connection that has ended here is ended for
// the other side, too: a path may break in one direction only. A process that is alive and does not poll may take as
// long as it likes. So may a process that does not accept a connection (connector.hpp).
//
// Thread-safety: everything by anyone. One lock, the Wire's own, guards all its parts; each says at its top what is
// called with the lock held and what takes it. No call blocks.
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
