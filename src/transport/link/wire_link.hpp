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
// Parts, all used by who has the endpoint's lock: all that is known of a peer (link_peer_state.hpp), connections and the
// loss of peers (link_connections.hpp), what is sent (link_sender.hpp) and what comes (link_receiver.hpp), payload by
// stripes to other sites (striped_payload.hpp) and at this one (spread_payload.hpp), and what poll() tells
// (link_reports.hpp). What any thread may ask is in link_readiness.hpp.
//
// Thread-safety: as a link's. descriptor() by any thread; it is readable while there is something to do here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "p2p/link.hpp"
#include "transport/link/fork_watch.hpp"
#include "transport/link/link_connections.hpp"
#include "transport/link/link_peer_state.hpp"
#include "transport/link/link_readiness.hpp"
#include "transport/link/link_receiver.hpp"
#include "transport/link/link_reports.hpp"
#include "transport/link/link_sender.hpp"
#include "transport/link/link_settings.hpp"
#include "transport/link/link_sizes.hpp"
#include "transport/link/link_stripes.hpp"
#include "transport/link/spread_payload.hpp"
#include "transport/link/striped_payload.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

class WireLink final : public p2p::Link {
 public:
  using Envelope = p2p::Envelope;
  using Elements = p2p::Elements;
  using LinkPeer = p2p::LinkPeer;  // a rank of the Wire's
  using LinkTicket = p2p::LinkTicket;
  using Settings = LinkSettings;

  static constexpr std::uint64_t kFrame = LinkSizes::kFrame;
  static constexpr std::uint64_t kAhead = LinkSizes::kAhead;
  static constexpr std::uint64_t kLeastSpread = LinkSizes::kLeastSpread;

  // The wire outlives the link, and knows the addresses before the first message. One link for each wire.
  static Result<std::unique_ptr<WireLink>> open(Wire& wire, const Settings& settings);

  // Before the first message: to whom `stripes` carries it, payload of more than eager_bytes goes that way, and to
  // others what is to have several connections. All that is open when these stripes are lost ends with an error, as
  // where a connection is. All processes have called it, or none.
  Status carry_by(std::unique_ptr<LinkStripes> stripes);

  // Everything taken has been acknowledged by the peers' kernels: this process may end.
  bool flushed() const;
  int descriptor() const { return readiness_.descriptor(); }
  // Sleeps until there is something to do, for at most so many nanoseconds. By any thread.
  void wait(std::uint64_t ns) const { readiness_.wait(ns); }
  // The next can_progress() asks the kernel: for who is about to want to know, as a program that tests in a loop. By any
  // thread.
  void ask_next() const { readiness_.ask_next(); }
  // How many peers have failed. By any thread.
  unsigned lost() const { return readiness_.lost(); }
  // How often poll() has checked for peers that are gone without a word: four times in the wire's timeout. By any
  // thread.
  unsigned checks() const { return readiness_.checks(); }
  // Whether something on its way out needs further polls. By any thread.
  bool sending() const { return readiness_.sending(); }
  // From now on a lost peer of which nothing is wanted is not logged as an error. By any thread.
  void expect_ends() { ends_expected_ = true; }

  std::uint64_t eager_bytes() const override { return settings_.eager_bytes; }
  bool is_lost(LinkPeer peer) const override;
  void watch(LinkPeer peer) override;
  bool send_eager(LinkPeer to, const Envelope& envelope, const std::byte* payload, std::uint64_t bytes,
                  LinkTicket ticket) override {
    return sender_.send_eager(to, envelope, payload, bytes, ticket);
  }
  void send_rts(LinkPeer to, const Envelope& envelope, std::uint64_t bytes, LinkTicket send,
                const Elements* source) override {
    sender_.send_rts(to, envelope, bytes, send, source);
  }
  void send_cts(LinkPeer to, LinkTicket send, LinkTicket receive, const Elements& target,
                std::uint64_t bytes) override {
    sender_.send_cts(to, send, receive, target, bytes);
  }
  void send_payload(LinkPeer to, LinkTicket receive, const Elements& source, std::uint64_t bytes,
                    LinkTicket send) override {
    sender_.send_payload(to, receive, source, bytes, send);
  }
  std::uint64_t moved(LinkPeer peer, LinkTicket ticket, bool send) const override {
    return sender_.moved(peer, ticket, send);
  }
  void consumed(LinkPeer from, std::uint64_t bytes) override { sender_.consumed(from, bytes); }
  bool poll(Events& events) override;
  bool can_progress() const override { return readiness_.ready(); }

 private:
  WireLink(Wire& wire, const Settings& settings);

  void note_sending();
  void tell_sent();
  void end(LinkPeer rank);

  // Constant once open() has ended.
  Wire& wire_;
  const Settings settings_;
  const ForkWatch forks_;

  LinkReadiness readiness_;  // by any thread

  // By who has the endpoint's lock.
  std::unique_ptr<LinkStripes> stripes_;  // nullptr: there are none; constant after carry_by()
  LinkPeers peers_;
  LinkReports reports_;
  LinkConnections connections_;
  SpreadPayload spread_;
  StripedPayload striped_;
  LinkSender sender_;
  LinkReceiver receiver_;

  std::atomic<bool> ends_expected_{false};  // stored in MPI_Finalize; by any thread
};

}  // namespace urakata::transport
