// What an endpoint has under way by its link. See link.hpp for the protocol.
//
// A request is in one of the queues from its start to its end: a send in rts_sent, sending; a receive, once it
// has matched an RTS, in receiving. Sends keep Request::queued set as long.
//
// Thread-safety: by whoever has the endpoint's lock.
#pragma once

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
  bool step() { return link.poll(*this); }
  bool idle() const { return rts_sent_.empty() && sending_.empty() && receiving_.empty(); }

  void eager(LinkPeer from, const Envelope& envelope, std::byte* payload, std::uint64_t bytes) override;
  void rts(LinkPeer from, const Envelope& envelope, std::uint64_t bytes, LinkTicket send) override;
  bool cts(LinkPeer from, LinkTicket send, LinkTicket receive, std::uint64_t bytes) override;
  void sent(LinkTicket send) override;
  void received(LinkTicket receive) override;
  void failed(LinkPeer peer) override;

  Link& link;

 private:
  bool send_eager(LinkPeer to, const Envelope& envelope, const Buffer& buffer);
  Request* match(const Envelope& envelope);
  Unexpected& keep(LinkPeer from, const Envelope& envelope, Kind kind, std::uint64_t bytes);
  void accept(Request& receive, LinkPeer from, std::uint64_t bytes, LinkTicket send);

  Endpoint& here_;
  Queue<Request> rts_sent_;   // sends whose RTS is on its way
  Queue<Request> sending_;    // sends whose payload is
  Queue<Request> receiving_;  // receives whose payload is
};

}  // namespace urakata::p2p
