// SPDX-License-Identifier: BSD-3-Clause
// The link (p2p/link.hpp) by transport `wire`: the program's own messages between nodes over TCP connections of ours.
//
// A pair of processes has up to two connections for them, besides the one of our collectives, so that neither stands in
// the other's way: `ordered` for all frames that must keep their order or are short (eager messages, RTS, CTS, credit,
// the payload of a rendezvous that is no longer than an eager one), and `bulk` for other payload, so that small
// messages, be they synchronous or without credit, do not stand behind long ones. Each is made when it is first wanted,
// by either side: by the Wire's listener, with the job's secret. Where both begin at once, the lower rank's is the one,
// and the higher rank's is closed; frames wait until both sides know which (`hello_ack`).
//
// Payload goes by writev from its place, and comes by readv straight into it. By `bulk` it goes in pieces of up to
// kPiece, one payload of a pair after the other; elements with holes are packed and unpacked a piece at a time. A short
// payload is one piece; where many frames wait for `ordered`, which would keep copies of them, it goes by `bulk`, too.
//
// To ranks at other sites (carry_by()) long payload goes by stripes and not by `bulk`. Since a question takes a round
// trip there, payload of up to LinkStripes::kSlice goes with its RTS, where it lies still, and its CTS ends no more
// than the wait of its sender; and so does an eager message that is longer than what a connection sends at once (RFC
// 6928), as a copy. That is so much at a time that at most kAhead of a peer can be here that nobody has received.
//
// Payload of kLeastSpread and more to ranks at this site, in one piece of memory, goes by stripes, too, where several
// connections carry it faster than one (width.hpp). Its sender says so by `link_spread` when its turn comes, after its
// CTS, so nobody else need know.
//
// Credit: the eager messages that a peer has sent and the endpoint has not consumed are at most `credit` bytes, kFrame
// of them for each; it is given back by the quarter.
//
// Failure: where one of a pair's connections breaks, what has come by either is still taken, and the peer has failed.
// So who has sent and ends loses nothing if flushed() has said so before. A process that ends with nothing open is told
// as failed as well; whether that is an error only the caller knows.
//
// A child that the program forks has none of the connections (SocketWatch::leave_out): there every peer has failed.
//
// Thread-safety: as a link's. descriptor() by any thread; it is readable while there is something to do here.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "p2p/link.hpp"
#include "transport/link/link_stripes.hpp"
#include "transport/stripes/width.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

class WireLink final : public p2p::Link, private Connection::Sink {
 public:
  using Envelope = p2p::Envelope;
  using Elements = p2p::Elements;
  using LinkPeer = p2p::LinkPeer;  // a rank of the Wire's
  using LinkTicket = p2p::LinkTicket;

  static constexpr std::uint64_t kFrame = 256;  // about what an endpoint needs to keep an unexpected message
  static constexpr std::uint64_t kPiece = 256UL << 10;
  static constexpr std::uint64_t kAhead = 8UL << 20;
  static constexpr std::uint64_t kLeastSpread = 256UL << 10;

  struct Settings {
    std::uint64_t eager_bytes = 64UL << 10;
    std::uint64_t credit = 1UL << 20;  // for each peer; more than 4/3 of eager_bytes + kFrame: all become eager again
    // While callers wait, so many, readiness() always says yes and poll() asks the kernel. Else, and where this is
    // nullptr (whoever waits for a message of a space asks all the time), it is asked now and then.
    const std::atomic<unsigned>* waiting = nullptr;
    // Of how many calls of readiness() one asks the kernel then; nullptr: each does. More than one where callers ask
    // somebody else as well, who is likelier to have what they wait for.
    unsigned (*turns)() = nullptr;
    // For long payload to a rank at this site, if there is carry_by(); 0: as many as pay.
    std::uint32_t connections = 1;
  };

  // The wire outlives the link, and knows the addresses before the first message. One link for each wire.
  static Result<std::unique_ptr<WireLink>> open(Wire& wire, const Settings& settings);
  ~WireLink() override;

  // Before the first message: to whom `stripes` carries it, payload of more than eager_bytes goes that way, and to
  // others what is to have several connections. All that is open when these stripes are lost ends with an error, as
  // where a connection is. All processes have called it, or none.
  Status carry_by(std::unique_ptr<LinkStripes> stripes);

  // Everything taken has been acknowledged by the peers' kernels: this process may end.
  bool flushed() const;
  int descriptor() const { return epoll_; }
  // Sleeps until there is something to do, for at most so many nanoseconds. By any thread.
  void wait(std::uint64_t ns) const;
  // The next readiness() asks the kernel: for who is about to want to know, as a program that tests in a loop. By any
  // thread.
  void ask_next() const { asked_.store(0, std::memory_order_relaxed); }
  // How many peers have failed. By any thread.
  unsigned lost() const { return lost_peers_.load(std::memory_order_relaxed); }
  // How often poll() has checked for peers that are gone without a word: four times in the wire's timeout. By any
  // thread.
  unsigned checks() const { return checks_.load(std::memory_order_relaxed); }
  // Is something on its way out that needs further polls? By any thread.
  bool sending() const { return sending_.load(std::memory_order_relaxed); }
  // From now on peers may end: nothing is said of it where nothing is wanted of them.
  void expect_ends() { ends_expected_ = true; }

  std::uint64_t eager_bytes() const override { return settings_.eager_bytes; }
  bool failed(LinkPeer peer) const override;
  void watch(LinkPeer peer) override;
  bool send_eager(LinkPeer to, const Envelope& envelope, const std::byte* payload, std::uint64_t bytes,
                  LinkTicket ticket) override;
  void send_rts(LinkPeer to, const Envelope& envelope, std::uint64_t bytes, LinkTicket send,
                const Elements* source) override;
  void send_cts(LinkPeer to, LinkTicket send, LinkTicket receive, const Elements& target, std::uint64_t bytes) override;
  void send_payload(LinkPeer to, LinkTicket receive, const Elements& source, std::uint64_t bytes,
                    LinkTicket send) override;
  std::uint64_t moved(LinkPeer peer, LinkTicket ticket, bool send) const override;
  void consumed(LinkPeer from, std::uint64_t bytes) override;
  bool poll(Events& events) override;
  bool readiness() const override;

 private:
  struct ConnectionState {                   // of one of the connections to a peer
    std::unique_ptr<Connection> open;        // both sides know that it is the one
    std::unique_ptr<Connection> asked;       // made by us, while the peer has not said hello_ack
    std::unique_ptr<Connection> superseded;  // the peer's, in place of which it will find ours; not read
    std::vector<std::byte> room;             // of a payload that does not go straight to its place
  };
  struct Landing {  // a payload on its way here
    Elements target;
    std::uint64_t bytes = 0;
    std::uint64_t at = 0;
  };
  struct Leaving {  // a payload on its way out
    LinkTicket receive{};
    Elements source;
    std::uint64_t bytes = 0;
    std::uint64_t at = 0;
    LinkTicket send{};
  };
  struct Ahead {  // a payload that has gone with its RTS
    std::uint32_t order = 0;
    std::uint64_t bytes = 0;  // of kAhead
    bool over = false;        // the stripes have done with it
    bool answered = false;    // there is a CTS
    bool unwanted = false;    // it wants nothing
    bool eager = false;       // nobody waits for it
    LinkTicket receive{};     // of the CTS
  };
  struct AheadHere {  // one of a peer's whose receive has not been matched
    std::uint32_t order = 0;
    std::uint64_t bytes = 0;
  };
  struct Spread {  // payload to a rank at this site
    Width width;
    std::uint32_t connections = 1;          // over which the next goes
    bool ready = false;                     // more than one have been there
    std::uint32_t open = 0;                 // payloads that stripes have
    std::uint64_t since_ns = 0;             // when `connections` was last set
    std::uint64_t noted_ns = 0;             // when it was last asked what was carried; since then
    std::uint64_t short_bytes = 0;          // that went by `bulk` and would not be spread
    Stripes::Increase bulk_noted;           // in all, then
    Stripes::Increase by_bulk, by_stripes;  // since the width was told last
  };
  struct Peer {
    ConnectionState ordered;
    ConnectionState bulk;
    std::vector<Connection::Outgoing> held;  // frames that wait for the ordered connection
    std::deque<Leaving> leaving;             // the first has begun, or waits until it may be spread, or not be spread
    std::vector<std::byte> packed;           // the piece under way, of elements with holes
    std::map<LinkTicket, Landing> landings;
    std::map<LinkTicket, Ahead> ahead;           // by send
    std::map<LinkTicket, AheadHere> ahead_here;  // likewise
    std::map<std::uint32_t, LinkTicket> drains;  // by order: what nobody wants and is coming, to be answered then
    Spread spread;
    std::uint64_t credit = 0;  // that we have there
    std::uint64_t owed = 0;    // that we have not given back
    bool failed = false;
  };

  WireLink(Wire& wire, const Settings& settings);

  // wire_link_stripes.cpp: what goes by stripes. They return whether it does.
  bool by_stripes(LinkPeer peer, std::uint64_t bytes) const;
  bool send_ahead(LinkPeer to, const Envelope& envelope, std::uint64_t bytes, LinkTicket send, const Elements& source,
                  bool eager);
  bool send_eager_ahead(LinkPeer to, const Envelope& envelope, const std::byte* payload, std::uint64_t bytes);
  bool receive_by_stripes(LinkPeer from, LinkTicket send, LinkTicket receive, const Elements& target,
                          std::uint64_t bytes);
  bool send_by_stripes(LinkPeer to, const Elements& source, std::uint64_t bytes, LinkTicket send);
  void sent_by_stripes(LinkPeer to, LinkTicket send);
  void poll_stripes();
  void note_stripes();
  // wire_link_spread.cpp
  enum class Dispatch : std::uint8_t { plain, spread, later };
  Dispatch dispatch(LinkPeer to, Peer& other);
  void note_carried(LinkPeer to, Peer& other);
  void note_spreading();
  void tell_width(LinkPeer to, Spread& spread);
  void spread_ended(LinkPeer to);
  bool spread_arrived(LinkPeer rank, const Frame& frame);

  std::byte* place(Connection& from, const Frame& frame) override;
  bool arrived(Connection& from, const Frame& frame) override;
  bool piece_arrived(Peer& from, const ConnectionState& by, const Frame& frame);
  bool rts_ahead_arrived(LinkPeer rank, const Frame& frame);
  bool cts_arrived(LinkPeer rank, const Frame& frame);

  Peer& peer(LinkPeer rank);
  bool send(LinkPeer to, const Frame& frame, std::span<const std::byte> payload);
  bool send_short(LinkPeer to, LinkTicket receive, const Elements& source, std::uint64_t bytes, LinkTicket send);
  void push(LinkPeer to);
  bool connect(LinkPeer to, ConnectionState& state);
  void adopt(Wire::Accepted&& accepted);
  bool answered(Connection& from);
  void opened(LinkPeer rank, ConnectionState& state);
  void serve(Connection& connection, std::uint32_t events);
  void check_peers();
  void lose(LinkPeer rank);
  void note_sending();
  void end(LinkPeer rank);
  void bury(std::unique_ptr<Connection>& connection);
  bool forked() const;

  // Constant once open() has ended.
  Wire& wire_;
  const Settings settings_;
  const std::uint32_t forks_;  // of this process's line, when the link was made
  int epoll_ = -1;             // the readiness of who connects and of what was accepted for us, and all connections

  // By who has the endpoint's lock.
  std::unique_ptr<LinkStripes> stripes_;  // nullptr: there are none; constant after carry_by()
  std::unordered_map<LinkPeer, Peer> peers_;
  std::vector<std::byte> short_;                     // a short payload that is put together, while it is handed on
  std::vector<LinkTicket> sent_;                     // to be told
  std::vector<LinkPeer> lost_;                       // to be told
  std::vector<LinkPeer> unfinished_;                 // more of their payload would have gone
  std::vector<std::unique_ptr<Connection>> buried_;  // in poll(), which may be ready
  std::vector<Connection::Outgoing> gone_;           // for flush(): nobody waits for any
  Events* events_ = nullptr;                         // of the poll() that runs
  std::uint64_t eager_ahead_ = 0;                    // so many have gone
  std::uint64_t spreading_ = 0;                      // payloads that are spread and open

  // Stored by who has the endpoint's lock, loaded by any thread: relaxed, since nothing is read on their word without
  // the lock.
  std::atomic<std::uint64_t> next_check_ns_;
  std::atomic<bool> more_{false};  // one of the three lists is not empty
  std::atomic<unsigned> lost_peers_{0};
  std::atomic<unsigned> checks_{0};
  std::atomic<bool> sending_{false};

  // By any thread; relaxed.
  mutable std::atomic<unsigned> asked_{0};  // calls of readiness()
  std::atomic<bool> ends_expected_{false};  // stored in MPI_Finalize
};

}  // namespace urakata::transport
