// SPDX-License-Identifier: BSD-3-Clause
// A link: by it an endpoint's messages travel to and from peers that share no address space with it (what Open MPI
// calls a BTL, MPICH a netmod). A link moves frames and bytes; matching stays the endpoint's, so that one receive may
// take a message of the space or of any peer.
//
// Protocol
//   eager       up to eager_bytes(): envelope and payload in one frame. The send is finished when the link has it; a
//               synchronous one, whose frame says which it is, when a receive has matched it and the receiver has
//               answered with a CTS that wants nothing.
//   rendezvous  anything larger, and what there is no credit for: an RTS with envelope and size. When a receive has
//               matched it, the receiver answers with a CTS that says how many bytes it wants (fewer where it
//               truncates); the link then moves those from the sender's elements to the receiver's by itself. Where it
//               wants none the CTS ends the message.
//   cancel      is never told: an endpoint takes back receives that it has not matched; a send that has left stays.
//   failure     the link tells of it once: everything open with that peer ends with Outcome::failed, also what is sent
//               to it, and what matches an RTS of its, from then on. The eager messages that have come stay.
//
// Order: eager frames and RTS arrive at a peer in the order in which the endpoint has handed them on; nothing else need
// keep any order, so payload may go beside them and by several ways.
//
// Credit: an endpoint keeps the eager messages that arrive unexpected, so the link bounds that memory by counting at
// the sender what consumed() has not yet given back at the receiver, and refuses an eager frame that would be too much.
// Its RTS goes in its place: no message ever waits for one before it to be received. All other frames the link must
// take; of each kind there is at most one for each open request.
//
// Ownership: an eager payload is the caller's again when the call returns. Elements stay what and where they are until
// the event sent or received, or failed: from then on the link touches them no more.
//
// Thread-safety: the endpoint calls with its lock held, so one thread at a time, and not from within an event;
// can_progress() by any thread of the rank, without the lock. A link that gets something to do while the rank may be
// asleep calls Port::wake() after can_progress() says so.
#pragma once

#include <cstddef>
#include <cstdint>

#include "p2p/elements.hpp"
#include "p2p/slot.hpp"

namespace urakata::p2p {

// A rank beyond the link, by a number that all of the endpoint's communicators agree on.
enum class LinkPeer : std::int32_t {};
inline constexpr LinkPeer kNoPeer{-1};

// Names a request at its own endpoint. The peer only returns the value.
enum class LinkTicket : std::uint64_t {};
inline constexpr LinkTicket kNoTicket{0};

class Link {
 public:
  // What the endpoint is told, only within poll().
  class Events {
   public:
    // Frames of a peer. The payload is only looked at during the call. `send`: which one waits for an answer;
    // kNoTicket: none does.
    virtual void eager(LinkPeer from, const Envelope& envelope, std::byte* payload, std::uint64_t bytes,
                       LinkTicket send) = 0;
    virtual void rts(LinkPeer from, const Envelope& envelope, std::uint64_t bytes, LinkTicket send) = 0;
    // False: this peer has no such RTS or synchronous eager message of ours, or it was smaller. The link had better
    // give the peer up.
    virtual bool cts(LinkPeer from, LinkTicket send, LinkTicket receive, std::uint64_t bytes) = 0;
    // The elements of send_payload() have been read, those of send_cts() written.
    virtual void sent(LinkTicket send) = 0;
    virtual void received(LinkTicket receive) = 0;
    // The peer is lost, and the link has dropped all messages to and from it. Comes once for each lost peer.
    virtual void failed(LinkPeer peer) = 0;

   protected:
    ~Events() = default;
  };

  virtual ~Link() = default;

  // Payload bytes of the largest eager message; constant.
  virtual std::uint64_t eager_bytes() const = 0;
  virtual bool is_lost(LinkPeer peer) const = 0;
  // From now on the loss of this peer is noticed and the event failed() follows, even if nothing was sent to the peer.
  virtual void watch(LinkPeer peer) = 0;

  // False: no credit now; nothing was done. The event cts follows where `send` is not kNoTicket.
  virtual bool send_eager(LinkPeer to, const Envelope& envelope, const std::byte* payload, std::uint64_t bytes,
                          LinkTicket send) = 0;
  // The event cts follows. `source`: of the payload, which stays what and where it is until the event sent, so that a
  // link where words take long may have it begin at once; nullptr: the endpoint may yet set it aside.
  virtual void send_rts(LinkPeer to, const Envelope& envelope, std::uint64_t bytes, LinkTicket send,
                        const Elements* source) = 0;
  // The answer to an RTS: its payload's first `bytes` are wanted, in `target`. The event received follows, but for 0.
  virtual void send_cts(LinkPeer to, LinkTicket send, LinkTicket receive, const Elements& target,
                        std::uint64_t bytes) = 0;
  // The answer to a CTS: the first `bytes`, more than 0, of `source`. The event sent follows.
  virtual void send_payload(LinkPeer to, LinkTicket receive, const Elements& source, std::uint64_t bytes,
                            LinkTicket send) = 0;
  // Bytes of a rendezvous payload that have left or come so far, by its ticket at this end; 0 if the payload is over.
  // For reports only.
  virtual std::uint64_t moved(LinkPeer peer, LinkTicket ticket, bool send) const = 0;
  // The endpoint has released an eager message of `bytes` payload bytes from this peer.
  virtual void consumed(LinkPeer from, std::uint64_t bytes) = 0;

  // Moves on what can move without waiting. Returns whether anything did.
  virtual bool poll(Events& events) = 0;
  // Whether poll() may have something to do. Cheap: waiting threads call this between polls. By any thread.
  virtual bool can_progress() const = 0;
};

}  // namespace urakata::p2p
