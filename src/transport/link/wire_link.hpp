// SPDX-License-Identifier: BSD-3-Clause
// The link (p2p/link.hpp) by transport `wire`: the program's own messages between nodes over TCP connections of ours.
//
// A pair of processes has up to two connections for these messages, besides the one for collectives, so that short
// frames do not wait behind long payload. `ordered` carries all frames that must keep their order or are short: eager
// messages, RTS, CTS, credit, and the payload of a rendezvous that is no longer than an eager one. `bulk` carries other
// payload. Each connection is made when either process first needs it, through the Wire's listener and with the job's
// secret. If both processes connect at once, the connection of the lower rank stays and the other one is closed; frames
// wait until both processes know which one stays (`hello_ack`).
//
// Payload goes by writev from its place, and comes by readv straight into its place. On `bulk` it goes in pieces of up
// to kPiece, one payload of a pair after the other; elements with holes are packed and unpacked a piece at a time. A
// short payload is one piece. If many frames wait for `ordered`, which would keep copies of them, the short payload
// goes by `bulk`, too.
//
// Long payload for ranks at other sites (carry_by()) goes by stripes instead of `bulk`. A CTS takes a round trip there,
// so payload of up to LinkStripes::kSlice goes together with its RTS, from its place, and the CTS only ends the wait of
// the sender. An eager message longer than TCP's first flight (RFC 6928) goes likewise, as a copy. At most kAhead bytes
// of a peer are sent before their receives are known.
//
// Payload of kLeastSpread bytes and more for ranks at this site, in one piece of memory, goes by stripes, too, if
// several connections carry it faster than one (width.hpp). After the CTS, when the payload's turn comes, its sender
// announces that by `link_spread`.
//
// Credit: the eager messages that a peer has sent and the endpoint has not consumed hold at most `credit` bytes, kFrame
// of them for each message. Credit is given back by the quarter.
//
// Failure: if one of a pair's connections breaks, what has come by either is still taken, and then the peer has failed.
// So a process that ends after flushed() has returned true loses nothing. A process that ends with nothing open is
// reported as failed as well; whether that is an error only the caller knows.
//
// A child that the program forks has none of the connections (SocketWatch::leave_out): in it every peer has failed.
//
// Parts, all used by the thread that holds the endpoint's lock: the state of a peer (link_peer_state.hpp), connections
// and the loss of peers (link_connections.hpp), sending (link_sender.hpp), receiving (link_receiver.hpp), payload by
// stripes to other sites (striped_payload.hpp) and at this site (spread_payload.hpp), and the events of poll()
// (link_reports.hpp). link_readiness.hpp has what any thread may call.
//
// Thread-safety: as p2p::Link says. descriptor() by any thread; it is readable while poll() has something to do.
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
  // The next can_progress() asks the kernel: for who is about to want to know, as a program that tests in a loop. By
  // any thread.
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
