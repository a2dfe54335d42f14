// SPDX-License-Identifier: BSD-3-Clause
// Transport `wire`: messages between nodes over TCP connections of our own.
//
// Where the MPI library's network is TCP, its point-to-point costs a progress thread twice the CPU time that the bytes
// themselves cost: it can only be polled, reads through a buffer, and is woken by each packet. A Wire reads each
// payload straight into its place, and has the kernel wake nobody before a piece is there (SO_RCVLOWAT).
//
// One Wire serves the process; each progress domain has a port to it, which is its transport. A message belongs to the
// port where it was posted, whoever takes it from the network. Messages of one peer and tag meet in order. A longer one
// than kEager waits at its sender until its receive is there (`rts`, `cts`, `payload`); a shorter one that comes
// unexpected is kept here.
//
// A pair of processes has one connection, made at the first message of either: what one sends then takes along the
// acknowledgement of what it was sent, which else is a packet of its own. Where both begin at once, the lower rank's
// connection is the one: the higher rank sends nothing on its own before the lower has sent hello_ack, which it does
// only if it has not begun itself.
//
// Every connection begins with the job's secret, so that only those of the job's own processes are accepted
// (acceptor.hpp).
//
// A node that does not answer any more is noticed within the timeout: the kernel asks on idle connections (keepalive),
// and poll() checks now and then those with bytes that nobody acknowledges, and connects to whoever a receive waits
// for; who watches a rank is connected to it at once. A connection that has ended here is ended for the other side,
// too: a path may break in one direction only. A process that is alive and does not poll may take as long as it likes.
// So may a process that does not accept a connection (connector.hpp).
//
// Thread-safety: everything by anyone, under the Wire's own lock; a port is its domain's, hence used by one thread at a
// time. No call blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "transport/transport.hpp"
#include "transport/wire/acceptor.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/connector.hpp"
#include "transport/wire/prober.hpp"
#include "transport/wire/puts.hpp"
#include "transport/wire/sockets.hpp"

namespace urakata::transport {

class WirePort;

class Wire final : public PutWire, private Connection::Sink {
 public:
  static constexpr std::uint64_t kEager = 128UL * 1024;

  static constexpr std::size_t kMostUnauthenticated = Acceptor::kMostUnauthenticated;

  // Opens the listener of this process, whose rank is `rank`, at the addresses `only`; empty: at all of this machine's.
  // A node that has not answered for `timeout_ns` is gone.
  static Result<std::unique_ptr<Wire>> open(std::int32_t rank, Secret secret, Failures& failures,
                                            std::uint64_t timeout_ns, std::span<const InterfaceAddress> only = {});
  ~Wire() override;

  // The same at all addresses at which this process listens.
  std::uint16_t listen_port() const { return acceptor_.port(); }

  Prober& prober() { return prober_; }
  void step() { poll(nullptr); }

  // Where each process can be reached, by rank; length 0: not by wire. Once, before the first message.
  void set_addresses(std::vector<ListenAddress> listen_addresses) {
    connector_.set_addresses(std::move(listen_addresses));
  }
  const ListenAddress& address_of(std::int32_t rank) const { return connector_.address_of(rank); }
  bool reaches(std::int32_t rank) const { return address_of(rank).length != 0; }

  // Readable while there is something to do here.
  int readiness() const { return epoll_; }

  // --- puts of neighbourhood channels (puts.hpp), on the same connections ---

  std::int32_t add(PutSink& sink) override;
  void remove(std::int32_t number) override;
  void watch(std::int32_t rank, PutSink& sink) override;
  bool put(std::int32_t to, const Frame& frame, const std::byte* payload, PutSink& from,
           std::uint32_t channel) override;
  void give_up(PutSink& sink) override;

  // --- for connections that belong to somebody else: those of the program's own messages (wire_link.hpp) ---

  using Accepted = AcceptedConnection;
  // Those made with hello_ordered or hello_bulk.
  std::vector<Accepted> accepted();
  int accepted_readiness() const { return acceptor_.ordered_or_bulk().readiness(); }  // readable while there are some
  // The same for those made with hello_stripe (stripes.hpp).
  std::vector<Accepted> accepted_stripes();
  int accepted_stripes_readiness() const { return acceptor_.stripes().readiness(); }
  // Accepts who connects. Readable while somebody does: accepting(), a part of readiness().
  void accept_pending() { poll(nullptr, accepting()); }
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

  struct Posted {
    WirePort* port = nullptr;
    Ticket ticket;
    Message message;
    std::vector<std::byte> packed = {};  // where the payload arrives, for a layout with holes
    // port is nullptr where the receive was given up: the payload is thrown away.

    std::byte* room() { return message.layout != nullptr ? packed.data() : message.address; }
  };
  // A message that came before its receive.
  struct Unexpected {
    std::int32_t tag = 0;
    std::uint64_t bytes = 0;
    std::vector<std::byte> payload = {};
    bool whole = false;         // the payload has come
    bool rts_received = false;  // the payload is still at the sender, under `id`
    std::uint64_t id = 0;
    std::unique_ptr<Posted> taker = nullptr;  // the receive came while the payload was coming
  };
  struct Peer {
    Connection* link = nullptr;              // for both ways, among connections_
    Connection* asked = nullptr;             // ours, while the peer has not said hello_ack; likewise
    std::vector<Connection::Outgoing> held;  // what we want to send meanwhile
    std::deque<Posted> posted;               // receives, oldest first
    std::deque<std::unique_ptr<Unexpected>> unexpected;
    std::map<std::uint64_t, Posted> cts_sent;               // receives whose payload is asked for
    std::map<std::uint64_t, Connection::Outgoing> waiting;  // sends that wait for a CTS
    std::uint64_t next_id = 0;
    // The payload that is coming in at the moment.
    std::unique_ptr<Posted> current;
    Unexpected* current_unexpected = nullptr;
    PutSink* current_put = nullptr;      // whose payload it is; nullptr: nobody's any more
    std::vector<std::byte> thrown_away;  // a payload that does not fit, or that nobody wants any more
  };

  Wire(std::int32_t rank, Secret secret, Failures& failures, std::uint64_t timeout_ns);

  bool send(WirePort& port, const Message& message, Ticket ticket);
  bool send(Peer& to, Connection::Outgoing&& out, const Message& message);
  bool send(Peer& to, Connection::Outgoing&& out);
  bool recv(WirePort& port, const Message& message, Ticket ticket, int* error);
  void poll(WirePort* port) { poll(port, epoll_); }
  void poll(WirePort* port, int set);
  bool serve(int set);
  void tell_progress(const Connection& from);
  std::size_t cancel(const void* instance);
  void tell(std::int32_t rank, const Notice& notice);

  std::byte* place(Connection& from, const Frame& frame) override;
  bool arrived(Connection& from, const Frame& frame) override;

  Peer& peer(std::int32_t rank);
  void check_connections();
  bool is_over(std::int32_t tag) const;
  std::byte* throw_away(Peer& from, std::uint64_t bytes);
  bool link_to(std::int32_t rank, Peer& to);
  bool reach(std::int32_t rank, Peer& to);
  bool hello(Connection& from, std::int32_t rank);
  bool hello_ack(Connection& from, std::int32_t rank);
  void link(Peer& to, Connection& connection);
  void adopt(const Connection& accepted);
  bool rts_received(Peer& from, const Frame& frame);
  void send_cts(Peer& to, std::uint64_t id, Posted&& receive);
  void cts_sent(Peer& to, std::uint64_t id);
  void report(const Connection::Outgoing& sent);
  void abandon(PutSink& sink);
  std::byte* place_put(std::int32_t from, Peer& sender, const Frame& frame);
  bool put_arrived(std::int32_t from, Peer& sender, const Frame& frame);
  int deliver(Unexpected& unexpected, Posted& receive);
  int unpack(Posted& receive, std::uint64_t bytes);
  int too_long(std::uint64_t bytes, std::uint64_t room);
  void put(WirePort& port, const Ticket& ticket, int error);  // complete(), by the port
  void complete(WirePort& port, const Ticket& ticket, int error);
  bool ended(Connection& connection);
  void lost(Connection& connection);
  void lose_receives(Peer& peer);
  void end(const Posted& receive, int error);  // complete(), unless it was given up

  // Constant once open() has returned; the parts say for themselves who may use them.
  Failures& failures_;
  const int failure_;
  const int epoll_;
  Connector connector_;
  Acceptor acceptor_;  // its set is in epoll_

  // Under the lock, by anyone.
  std::mutex lock_;
  std::unordered_map<std::int32_t, Peer> peers_;
  std::vector<std::unique_ptr<Connection>> connections_;  // the oldest first
  WirePort* polling_ = nullptr;                           // whose poll it is
  std::vector<Connection::Outgoing> sent_;
  std::map<std::int32_t, PutSink*> sinks_;  // by number
  std::int32_t next_sink_ = 0;
  std::set<std::int32_t> over_;  // our contexts whose operations have failed: what comes for them is thrown away
  unsigned polls_ = 0;
  std::uint64_t next_check_ns_ = 0;
  Prober prober_;
};

// One domain's transport through a Wire.
class WirePort final : public Transport {
 public:
  explicit WirePort(Wire& wire);
  ~WirePort() override;
  WirePort(const WirePort&) = delete;
  WirePort& operator=(const WirePort&) = delete;

  int send(const Message& message, Ticket ticket, bool* finished) override;
  int recv(const Message& message, Ticket ticket, bool* finished) override;
  std::span<const Completion> poll() override;
  std::size_t in_flight() const override { return in_flight_; }
  std::size_t cancel(const void* instance) override;
  void tell(std::int32_t peer, const Notice& notice) override;
  const Failures& failures() const override { return wire_.failures_; }

  // The Wire's, and one that is readable when messages of this port were finished by another port's thread.
  std::vector<int> readiness() const override { return {wire_.readiness(), readiness_}; }
  Wakeup wakeup() const override { return Wakeup::readiness; }

 private:
  friend class Wire;
  int posted(bool done, int error, Ticket ticket, bool* finished);

  // Constant.
  Wire& wire_;
  int readiness_ = -1;

  // Under the wire's lock, by anyone.
  bool told_ = false;  // there is a word in readiness_
  std::vector<Completion> finished_;

  // By who owns the domain. (poll() swaps the first with finished_, under the wire's lock.)
  std::vector<Completion> reported_;
  std::size_t in_flight_ = 0;
};

}  // namespace urakata::transport
