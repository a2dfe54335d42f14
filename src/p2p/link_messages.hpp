// SPDX-License-Identifier: BSD-3-Clause
// Messages that an endpoint has under way by its link. See link.hpp for the protocol.
//
// A request is in one of the queues from its start to its end: a send in rts_sent_, then in sending_; a receive, once
// it has matched an RTS, in receiving_. While a send is in one of them Request::queued is set, so that release() leaves
// it there. A progress thread must not unpack a payload whose type has no Shape (Buffer::needs_library()), since that
// may call the MPI library. It puts the receive into to_unpack_ for a thread of the program.
//
// Thread-safety: under the endpoint's lock; can_progress() by any thread of the rank. What the endpoint or the link
// calls asserts that lock, since clang's analysis does not know that here_.lock_ is the lock that the endpoint has
// taken.
#pragma once

#include <atomic>

#include "p2p/endpoint.hpp"
#include "p2p/link.hpp"
#include "p2p/queue.hpp"

namespace urakata::p2p {

class Endpoint::LinkMessages final : public Link::Events {
 public:
  LinkMessages(Endpoint& here, Link& by) : link(by), here_(here) {}

  Request* send(LinkPeer to, const Envelope& envelope, const Buffer& buffer, Mode mode);
  // The rest of Endpoint::deliver(), for a message that has come by the link.
  void deliver(Request& receive, Unexpected& message);
  Transfer transfer(const Request& request) const;
  bool step() {
    assert_held();
    const bool moved = may_unpack() && unpack_put_off();
    return link.poll(*this) || moved;
  }
  bool idle() const {
    assert_held();
    return rts_sent_.empty() && sending_.empty() && receiving_.empty() && to_unpack_.empty();
  }
  bool can_progress() const {
    return link.can_progress() || (any_to_unpack_.load(std::memory_order_relaxed) && may_unpack());
  }

  void eager(LinkPeer from, const Envelope& envelope, std::byte* payload, std::uint64_t bytes,
             LinkTicket send) override;
  void rts(LinkPeer from, const Envelope& envelope, std::uint64_t bytes, LinkTicket send) override;
  bool cts(LinkPeer from, LinkTicket send, LinkTicket receive, std::uint64_t bytes) override;
  void sent(LinkTicket send) override;
  void received(LinkTicket receive) override;
  void failed(LinkPeer peer) override;

  Link& link;

 private:
  void assert_held() const URAKATA_ANNOTATION(assert_capability(here_.lock_)) {}  // as that of the lock
  bool send_eager(LinkPeer to, const Envelope& envelope, const Buffer& buffer, LinkTicket send)
      URAKATA_REQUIRES(here_.lock_);
  void consumed(LinkPeer from, std::uint64_t bytes, LinkTicket send) URAKATA_REQUIRES(here_.lock_);
  Request* match(const Envelope& envelope) URAKATA_REQUIRES(here_.lock_);
  Unexpected& keep(LinkPeer from, const Envelope& envelope, Kind kind, std::uint64_t bytes)
      URAKATA_REQUIRES(here_.lock_);
  void accept(Request& receive, LinkPeer from, std::uint64_t bytes, LinkTicket send) URAKATA_REQUIRES(here_.lock_);
  static bool may_unpack() { return !on_progress_thread; }
  void begin(Request& request, LinkPeer peer, std::uint64_t bytes) URAKATA_REQUIRES(here_.lock_);
  static void end(Request& request);
  bool put_off(Request& receive, const std::byte* payload, std::uint64_t bytes) URAKATA_REQUIRES(here_.lock_);
  void put_off(Request& receive) URAKATA_REQUIRES(here_.lock_);
  bool unpack_put_off() URAKATA_REQUIRES(here_.lock_);
  void unpack(Request& receive) URAKATA_REQUIRES(here_.lock_);

  Endpoint& here_;
  // Sends that wait for a CTS, after an RTS or a synchronous eager message; sends whose payload is being sent; receives
  // whose payload is arriving; receives whose payload is here, in Request::packed.
  Queue<Request> rts_sent_ URAKATA_GUARDED_BY(here_.lock_);
  Queue<Request> sending_ URAKATA_GUARDED_BY(here_.lock_);
  Queue<Request> receiving_ URAKATA_GUARDED_BY(here_.lock_);
  Queue<Request> to_unpack_ URAKATA_GUARDED_BY(here_.lock_);
  // Whether to_unpack_ has something. Stored under the lock, loaded by any thread: relaxed, since nothing is read
  // on its word without the lock.
  std::atomic<bool> any_to_unpack_{false};
};

}  // namespace urakata::p2p
