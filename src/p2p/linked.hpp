// SPDX-License-Identifier: BSD-3-Clause
// What an endpoint has under way by its link. See link.hpp for the protocol.
//
// A request is in one of the queues from its start to its end: a send in rts_sent, sending; a receive, once it
// has matched an RTS, in receiving. Sends keep Request::queued set as long. Receives whose payload a progress thread
// has taken in and only their layout can unpack, which may enter the MPI library, are in left until a thread of the
// rank comes by.
//
// Thread-safety: by whoever has the endpoint's lock; readiness() by any thread.
#pragma once

#include <atomic>

#include "p2p/endpoint.hpp"
#include "p2p/link.hpp"
#include "p2p/queue.hpp"

namespace urakata::p2p {

class Endpoint::Linked final : public Link::Events {
 public:
  Linked(Endpoint& here, Link& by) : link(by), here_(here) {}

  Request* send(LinkPeer to, const Envelope& envelope, const Buffer& buffer, Mode mode);
  // The rest of Endpoint::deliver(), for a message that has come by the link.
  void deliver(Request& receive, Unexpected& message);
  Transfer transfer(const Request& request) const;
  bool step() {
    const bool moved = may_unpack() && unpack_left();
    return link.poll(*this) || moved;
  }
  bool idle() const { return rts_sent_.empty() && sending_.empty() && receiving_.empty() && left_.empty(); }
  bool readiness() const { return link.readiness() || (any_left_.load(std::memory_order_relaxed) && may_unpack()); }

  void eager(LinkPeer from, const Envelope& envelope, std::byte* payload, std::uint64_t bytes,
             LinkTicket send) override;
  void rts(LinkPeer from, const Envelope& envelope, std::uint64_t bytes, LinkTicket send) override;
  bool cts(LinkPeer from, LinkTicket send, LinkTicket receive, std::uint64_t bytes) override;
  void sent(LinkTicket send) override;
  void received(LinkTicket receive) override;
  void failed(LinkPeer peer) override;

  Link& link;

 private:
  bool send_eager(LinkPeer to, const Envelope& envelope, const Buffer& buffer, LinkTicket send);
  void consumed(LinkPeer from, std::uint64_t bytes, LinkTicket send);
  Request* match(const Envelope& envelope);
  Unexpected& keep(LinkPeer from, const Envelope& envelope, Kind kind, std::uint64_t bytes);
  void accept(Request& receive, LinkPeer from, std::uint64_t bytes, LinkTicket send);
  static bool may_unpack() { return !on_progress_thread; }
  void begin(Request& request, LinkPeer peer, std::uint64_t bytes);
  static void end(Request& request);
  bool leave(Request& receive, const std::byte* payload, std::uint64_t bytes);
  void leave(Request& receive);
  bool unpack_left();
  void unpack(Request& receive);

  Endpoint& here_;
  Queue<Request> rts_sent_;   // sends whose RTS is on its way, or synchronous ones with their payload
  Queue<Request> sending_;    // sends whose payload is
  Queue<Request> receiving_;  // receives whose payload is
  Queue<Request> left_;       // receives whose payload is here, in Request::packed
  // left_ has something. Stored by who has the lock, loaded by any thread: relaxed, since nothing is read on its word
  // without the lock.
  std::atomic<bool> any_left_{false};
};

}  // namespace urakata::p2p
