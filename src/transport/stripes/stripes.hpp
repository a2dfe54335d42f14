// SPDX-License-Identifier: BSD-3-Clause
// Transport `stripes`: messages between sites, and long ones inside one (wire_link.hpp), each cut into pieces that use
// several connections at once.
//
// One TCP connection does not fill a long link: its window, its share, or a limit on each flow holds it back. So a pair
// of ranks at different sites has several connections in each direction. Each is a *stripe* of this file; src/lanes/
// uses the word for a pair of site leaders. A piece carries the number of its message and its offset. It goes to the
// free stripe with the fewest unacknowledged bytes, and no stripe holds more than its share of the bytes that remain.
// The receiver reads a piece straight into its place. So stripes may differ in speed, and one may be lost.
//
//   stripe_piece  tag; id: 44 bits of offset in the message, 20 of its number; payload
//   stripe_ack    number of pieces of this connection that have arrived, in place or in memory of ours
//   clear_to_send     the receive of message `id` (20 bits) of `tag` has been posted
//   notice      as by wire
//
// Messages of one peer and tag match by number: the k-th send and the k-th receive. The first kPush bytes of a message
// go without asking, since a question takes a round trip. Pieces that arrive before their receive are kept here. The
// rest of a longer message waits for clear_to_send.
//
// A send completes when the kernel has taken all of it. The unacknowledged tail is copied. If the tail is longer than
// kMostKept, the send completes when enough of it has been acknowledged. Until the whole message has been acknowledged,
// its rank has a reason to poll.
//
// A stripe is given up if it breaks, or if its other end acknowledges nothing while other stripes of the pair go on.
// Its pieces go over the other stripes. Pieces that arrive twice are discarded. A piece may be arriving in a buffer
// while its twin ends the message; the rest of that piece is read into other memory. A lost stripe is opened again
// after kAgain. If all stripes are silent, or the only one is, a new one is tried: if it opens, the silent ones are
// given up. The messages of a pair end with an error if no stripe has been heard of for the Wire's timeout, or if the
// peer no longer listens.
//
// If this end gives up a stripe, the peer may not learn of it, for instance if a router has dropped the flow. The peer
// then keeps a connection on which nothing arrives. It finds out because nothing that it sends there is acknowledged.
// A clear_to_send may have been lost on such a stripe. So every tick repeats clear_to_send on all stripes until a piece
// from behind the first kPush bytes has come.
//
// Notices go by all stripes and by wire. Stripes are open already. If a stripe has nothing under way, the kernel has
// the notice when a failed call returns, even if its rank never calls again. A stripe within a piece, or a wire
// connection that is not open yet, sends the notice only in a later call.
//
// The Wire's listener and secret make the connections, at a pair's first message, and as many as its backlog keeps
// busy. No SO_RCVBUF or SO_SNDBUF is set, so the kernel sizes the windows. Little is left unsent in the kernel
// (TCP_NOTSENT_LOWAT): a piece given to a slow stripe could not move to a fast one.
//
// A connection that is new, or was idle, sends kFirstFlight at once and then waits for a round trip. So what fits into
// the first flights of all stripes is sent in them. There may be more stripes than the link needs: those beyond that
// number never have more than a first flight under way.
//
// The number of stripes of a pair follows from the link between the two sites, for pairs of nodes. A message may say
// how many suit it (Message::streams), since an operation of few pairs takes more of each. A rank that receives from
// n peers when it sends takes part in an exchange of all with all: each peer then gets an n-th of the stripes.
//
// Thread-safety: any thread, under a lock of this object; the Wire's lock may be taken inside it. A port belongs to its
// domain, so one thread at a time uses it. No call blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "transport/transport.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/tcp_facts.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

class StripesPort;

class Stripes final : private Connection::Sink {
 public:
  static constexpr std::uint64_t kPush = 4UL * 1024 * 1024;      // what 1 Gb/s delivers in 32 ms: a round trip
  static constexpr std::uint64_t kMostKept = 8UL * 1024 * 1024;  // of a message
  static constexpr std::uint64_t kMostPiece = 64UL * 1024;
  static constexpr std::uint64_t kLeastPiece = 8UL * 1024;
  static constexpr std::uint64_t kPacket = 1400;         // least piece in a first flight: about one segment
  static constexpr std::uint64_t kFirstFlight = 14'000;  // 10 packets of 1448 bytes (RFC 6928), less the frames' heads
  static constexpr std::uint64_t kAgain = 500'000'000;   // ns

  struct Settings {
    std::uint32_t streams = 4;  // stripes of a pair, in each direction
    std::string congestion;     // control, by the kernel's name; empty: the system's
    // What time it is, and what the kernel knows of a connection; a test gives its own, to let time pass.
    std::uint64_t (*now)() = now_ns;
    TcpFacts (*facts)(int socket) = tcp_facts;
    bool (*answered)(NodeProbe& node) = [](NodeProbe& node) { return node.answered(); };
  };
  static Result<std::unique_ptr<Stripes>> open(Wire& wire, Failures& failures, const Settings& settings);
  ~Stripes() override;

  // How many stripes a pair has from now on; those that there are stay, but no more than so many are used.
  void set_streams(std::uint32_t streams) {
    const std::lock_guard guard(lock_);
    streams_ = streams;
  }
  // Likewise, of the pair with a rank at another site: so many, and `most` for first flights.
  void set_streams(std::int32_t rank, std::uint32_t streams, std::uint32_t most);
  // The rank is at this site: its stripes are no part of those between sites.
  void note_near(std::int32_t rank);
  // To a rank at this site so many, from now on. False: they are not all there yet.
  bool prepare(std::int32_t rank, std::uint32_t streams);
  // Closes the connections to peers with which nothing is under way; messages to come make others, whose windows
  // nothing has cut yet. Both ends of a pair do so between the same messages, and none is sent before both have.
  void close_idle();
  // Is anything not acknowledged?
  bool sending();
  // The same, or may what this rank has acknowledged come again, because its stripe was lost before that arrived?
  bool flushing();

  // What the stripes to a rank have carried since it was asked last: bytes that its node has acknowledged, and the time
  // in which one of them had some to carry.
  struct Increase {
    std::uint64_t bytes = 0, us = 0;
  };
  Increase carried_since(std::int32_t rank);

  int readiness() const { return epoll_; }  // readable while there is something to do here
  // Moves on what is under way. True: all that was sent has been acknowledged, or cannot be any more.
  bool settled();

  // What has gone to a rank.
  struct Traffic {
    std::uint64_t bytes = 0;  // payload
    std::uint64_t acked = 0;  // bytes of it that have been acknowledged
    std::uint64_t pieces = 0;
    std::uint64_t again = 0;    // pieces of lost stripes, sent anew
    std::uint32_t stripes = 0;  // the most at a time
    std::uint32_t lost = 0;     // stripes
  };
  std::map<std::int32_t, Traffic> traffic();
  Traffic traffic(std::int32_t rank);

  // TCP's packets with data that the stripes to a rank have sent, those of lost stripes apart, and how many of them
  // again.
  struct Packets {
    std::uint64_t sent = 0, again = 0;
    std::uint64_t arrived = 0;  // bytes, also of what came behind one that was lost; 0 where the kernel does not tell
  };
  Packets packets(std::int32_t rank);

  // The time in which most went to a site: from the first byte that was to go there until all that was had come. Only
  // of what is as long as note_sites() said.
  struct Busiest {
    std::uint64_t bytes = 0;  // 0: there was none
    double seconds = 0;
    std::uint32_t connections = 0;
  };
  // sites[rank]; `least`: bytes that go at a time to one of them, by which such a time is judged.
  void note_sites(std::span<const std::int32_t> sites, std::uint64_t least);
  Busiest busiest(std::int32_t site);

 private:
  friend class StripesPort;

  static constexpr unsigned kNumberBits = 20;
  static constexpr std::uint64_t kNumberMask = (1U << kNumberBits) - 1;

  struct Outgoing {  // a message on its way out
    std::int32_t tag = 0;
    std::uint64_t number = 0;
    const std::byte* payload = nullptr;  // from offset `from` on
    std::uint64_t from = 0;
    std::uint64_t bytes = 0;
    std::vector<std::byte> kept;  // the payload, where it is ours
    std::uint64_t next = 0;       // what lies before it has been given to stripes
    bool given = false;           // all has, once
    bool clear_to_send = false;   // the receive is there
    std::uint32_t queued = 0;     // pieces that a stripe has and the kernel has not
    Streams streams;              // as the message has it
    struct Span {
      std::uint64_t offset, bytes;
    };
    std::vector<Span> again;          // pieces of lost stripes
    std::set<std::uint64_t> unacked;  // offsets
    StripesPort* port = nullptr;      // nullptr: nobody waits for it
    Ticket ticket;

    bool more() const { return !given || !again.empty(); }
    bool ready() const {
      return more() && (clear_to_send || next < kPush || !again.empty());
    }  // has it a piece for a stripe?
  };
  struct Incoming {               // a message that is coming in
    StripesPort* port = nullptr;  // nullptr: its receive is not there yet
    Ticket ticket;
    Message message;
    std::vector<std::byte> packed;   // where the payload arrives, for a layout with holes
    bool told = false;               // tell_clear_to_send() was called; short messages need no clear_to_send
    std::uint64_t come = 0;          // bytes
    std::set<std::uint64_t> pieces;  // offsets of those that have come
    std::map<std::uint64_t, std::vector<std::byte>> unexpected;  // pieces that have come before the receive, by offset

    std::byte* room() { return message.layout != nullptr ? packed.data() : message.address; }
  };
  using Key = std::pair<std::int32_t, std::uint64_t>;  // tag, number
  struct Given {
    Outgoing* message;
    std::uint64_t offset, bytes;
  };
  struct Stripe {
    std::unique_ptr<Connection> connection;
    std::int32_t rank = -1;
    bool out = false;  // ours, for what we send; else for what we receive
    // Of what we send:
    std::uint64_t made_ns = 0;
    std::uint64_t busy_since_ns = 0;  // when it was last given a piece while all before were acknowledged
    bool busy = false;                // the last of `unacked` is not all in the kernel
    std::deque<Given> unacked;        // oldest first
    std::uint64_t unacked_bytes = 0;
    std::uint64_t acked = 0;  // pieces
    Increase told_carried;    // totals at the last carried_since(), which returns the difference
    // Of both:
    std::uint64_t unanswered_since_ns = 0;  // since the tick at which something was not acknowledged; 0: all was
    std::uint64_t silence_ns = 0;           // at the last tick: without an answer for so long
    // Of what we receive: the piece that is coming in at the moment.
    bool placed = false;
    bool thrown_away = false;
    bool aside = false;  // it goes to `spill`, since its receive is not there yet
    Key key{};
    std::uint64_t offset = 0;
    std::vector<std::byte> spill;
    std::uint64_t come = 0, told = 0;  // pieces, and as many of them as have been acknowledged
    bool telling = false;              // as far as is known, the last acknowledgement has not arrived
  };
  struct Free {
    Stripe* stripe = nullptr;  // nullptr: none
    std::uint64_t room = 0;    // bytes that it may take
    std::size_t idle = 0;      // stripes that have nothing under way
  };
  struct Peer {
    std::list<Stripe> stripes;
    bool near = false;
    Streams streams;  // of messages that do not say how many; 0: as many as all have
    std::list<Outgoing> outgoing;
    std::deque<Outgoing*> waiting;   // those that have more() to give
    std::uint64_t backlog = 0;       // bytes that are to be given
    std::uint64_t first_bytes = 0;   // that may still go in first flights of more stripes than the link needs
    std::uint32_t busy_stripes = 0;  // most stripes that a message of the site's busy period may use to this peer
    bool awaited = false;            // a receive from it is there
    std::map<Key, Incoming> incoming;
    std::unordered_map<std::int32_t, std::uint64_t> sent, posted;  // messages of a tag
    std::uint64_t down_since_ns = 0;    // nothing wanted of it has been answered since then; 0: a stripe is there
    std::uint64_t wanted_since_ns = 0;  // something has been wanted of it; 0: nothing is, as far as the last tick knows
    std::uint64_t again_ns = 0;         // no stripe is made before
    std::unique_ptr<NodeProbe> node;    // asked since its process accepts no stripe
    bool failed = false;
    // A stripe was lost on which an acknowledgement may not have arrived: pieces may come again from now on.
    bool untold = false;
    Traffic traffic;
  };

  struct Busy {              // of a site
    std::uint64_t open = 0;  // bytes of messages that have not come
    std::uint64_t begin_ns = 0, bytes = 0;
    Busiest most;
  };

  Stripes(Wire& wire, Failures& failures, Settings settings);

  bool send(StripesPort& port, const Message& message, Ticket ticket);
  bool recv(StripesPort& port, const Message& message, Ticket ticket, int* error);
  void poll(StripesPort* port);
  std::size_t cancel(const void* instance);
  std::uint64_t moved(const Ticket& ticket, std::int32_t peer, bool send);
  void tell(std::int32_t rank, const Notice& notice);

  // lanes_busy.cpp
  void begin_busy(std::int32_t rank, const Message& message);
  void end_busy(std::int32_t rank, std::uint64_t bytes);

  // lanes_messages.cpp
  std::byte* place(Connection& from, const Frame& frame) override;
  bool arrived(Connection& from, const Frame& frame) override;
  void acknowledged(Peer& to, Stripe& stripe, std::uint64_t pieces);
  void clear_to_send(Peer& to, std::int32_t tag, std::uint64_t number);
  static void tell_clear_to_send(Stripe& stripe, const Incoming& incoming, const Key& key);
  bool landed(Peer& from, Stripe& stripe, const Frame& frame);
  int conclude(Incoming& incoming);
  void divert(Stripe& stripe);
  std::byte* throw_away(Stripe& stripe, std::uint64_t bytes);
  void keep(Outgoing& message);
  bool is_over(std::int32_t tag) const;

  // stripes.cpp
  void push(std::int32_t rank, Peer& to);
  void give(std::int32_t rank, Peer& to, Outgoing& message, const Free& free);
  void handed(Peer& to, Outgoing& message);
  void sent_all(Peer& to, Outgoing& message);
  static std::uint64_t share_of(const Peer& to, std::uint32_t most);
  Free free_stripe(Peer& to, const Streams& use);
  void note(Peer& peer);
  // How many stripes to it a message may use that has `wish`.
  Streams stripes_of(const Peer& to, const Streams& wish = {}) const {
    if (to.near && to.streams.most != 0) return to.streams;
    const Streams stripes = wish.most != 0         ? wish
                            : to.streams.most != 0 ? to.streams
                                                   : Streams{.most = streams_, .first = streams_};
    const std::uint32_t shared_by = std::max(awaited_, 1U);
    return {.most = std::max(stripes.most / shared_by, 1U),
            .first = std::max(std::max(stripes.most, stripes.first) / shared_by, 1U)};
  }
  void serve(Stripe& stripe, std::uint32_t events);
  bool wants(const Peer& peer) const;     // whether sends to it or receives from it are open
  static bool telling(const Peer& peer);  // may what it has been told not have arrived?
  void note_told(Peer& peer) const;
  void arm();
  void acknowledge();

  // lanes_connections.cpp
  std::size_t alive(const Peer& to, bool out, bool open) const;
  void open_stripes(std::int32_t rank, Peer& to);
  void adopt(Wire::Accepted&& accepted);
  void shape(int socket, bool near) const;
  void make_stripes(std::int32_t rank, Peer& to, std::size_t wanted);
  void lose(std::int32_t rank, Peer& of, Stripe& stripe);
  void fail(std::int32_t rank, Peer& peer);
  void close_stripes(Peer& peer);
  void check_stripes(std::int32_t rank, Peer& peer, std::uint64_t now);
  static std::uint64_t silence(Stripe& stripe, const TcpFacts& facts, std::uint64_t now);
  void note_down(Peer& peer, std::uint64_t silence_ns);
  static void forget_silence(Peer& peer);
  static void tell_all_clear_to_send(Peer& from);
  void tick();

  void complete(StripesPort& port, const Ticket& ticket, int error);
  void put(StripesPort& port, const Ticket& ticket, int error);

  // Constant once open() has ended.
  Wire& wire_;
  Failures& failures_;
  const int failure_;
  const Settings settings_;
  int epoll_ = -1;
  int timer_ = -1;  // ticks while there is something that could be lost

  // Under the lock, by anyone.
  std::mutex lock_;
  std::uint32_t streams_;
  bool wanted_ = false;        // whether sends or receives of any peer are open, as of the last tick
  bool armed_ = false;         // whether the timer runs
  std::uint32_t awaited_ = 0;  // number of peers from which a receive is open
  std::uint64_t told_checked_ns_ = 0;
  std::map<std::int32_t, Peer> peers_;
  std::unordered_map<const Connection*, Stripe*> by_connection_;
  std::vector<std::unique_ptr<Connection>> buried_;  // until no event can name them
  std::vector<Stripe*> to_acknowledge_;
  std::vector<std::int32_t> site_;  // of each rank; empty: nobody asks how busy
  std::uint64_t busy_least_ = 0;
  std::map<std::int32_t, Busy> busy_;
  std::set<std::int32_t> over_;  // our contexts whose operations have failed: what comes for them is thrown away
  StripesPort* polling_ = nullptr;
  std::vector<Connection::Outgoing> gone_;
};

// One domain's transport through the stripes.
class StripesPort final : public Transport {
 public:
  explicit StripesPort(Stripes& stripes);
  ~StripesPort() override;
  StripesPort(const StripesPort&) = delete;
  StripesPort& operator=(const StripesPort&) = delete;

  int send(const Message& message, Ticket ticket, bool* finished) override;
  int recv(const Message& message, Ticket ticket, bool* finished) override;
  std::span<const Completion> poll() override;
  std::size_t in_flight() const override { return in_flight_; }
  bool flushing() override { return stripes_.flushing(); }
  std::size_t cancel(const void* instance) override;
  // By all stripes of the pair; Route tells by its ordinary connection, too.
  void tell(std::int32_t peer, const Notice& notice) override;
  const Failures& failures() const override { return stripes_.failures_; }
  std::vector<int> readiness() const override { return {stripes_.readiness(), readiness_}; }
  Wakeup wakeup() const override { return Wakeup::readiness; }
  // Payload bytes that stripes have been given, or that have come, of a message to or from `peer` that is not finished;
  // 0 of another.
  std::uint64_t moved(const Ticket& ticket, std::int32_t peer, bool send) { return stripes_.moved(ticket, peer, send); }

 private:
  friend class Stripes;
  int posted(bool done, int error, Ticket ticket, bool* finished);

  // Constant.
  Stripes& stripes_;
  int readiness_ = -1;

  // Under the stripes' lock, by anyone.
  bool told_ = false;  // there is a word in readiness_
  std::vector<Completion> finished_;

  // By who owns the domain. (poll() swaps the first with finished_, under the stripes' lock.)
  std::vector<Completion> reported_;
  std::size_t in_flight_ = 0;
};

}  // namespace urakata::transport
