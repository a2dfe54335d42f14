// SPDX-License-Identifier: BSD-3-Clause
// An endpoint: one rank's end of all messages inside its space, and of those by a link (link.hpp). Matching and
// protocols of MPI's point-to-point, without MPI.
//
// Protocol. A message is one or several slots in the receiver's inbox (slot.hpp, inbox.hpp).
//   eager        up to kEager bytes: the payload is in the slots. The send is finished when they are filled.
//   rendezvous   anything larger, and synchronous sends of any size: the slot tells where the payload lies, and how
//                (elements.hpp). The receiver copies it from the sender's elements into its own once the receive is
//                there, and then stores the send's `finished`. From share_from (copying.hpp) bytes on it first
//                asks the sender to assist, through its port; a sender that waits then takes pieces of it too. Claimed
//                with one counter: so whoever is faster copies more, and nobody waits for a sender that computes.
//                Payload in short blocks, too little to share, is packed by the sender when it sends (copying.hpp);
//                from share_from on after it has told, and the receiver unpacks what is there meanwhile.
//                In an exchange payloads up to exchange_most are copied aside before the slot tells, and nobody helps.
//                Up to set_aside_most bytes a standard send whose payload was packed is done, and one that waits for
//                long, or is tested many times, copies its payload aside and is done: as the MPI library would have it,
//                programs in which both sides send first do not hang.
//   full inbox   the sender keeps the send in its own list, in order for each receiver, and fills slots when it makes
//                progress and there is room.
//
// Matching. A receive takes the oldest message that matches: first from the unexpected queue, which holds what was in
// the inbox before, in order of arrival; else it is posted, and an arriving message takes the oldest posted receive
// that matches it. Messages of one sender arrive in the order in which they were sent.
//
// What it costs: a send and a posted receive of an eager message make no system call, take no lock (see
// caller_lock.hpp) and allocate nothing; nor do others once alike ones have been under way, as far as blocks are kept
// (Spare). Memory: the inbox of 16 KiB, what is pending, kMostAside, and Spare::kKept.
//
// Thread-safety: all functions by threads of the endpoint's own rank, as `callers` allows; attach() before the first
// message. open() and one_open() by any thread of the rank; the port is for all ranks of the space (port.hpp). A
// request belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "base/mutex.hpp"
#include "p2p/backoff.hpp"
#include "p2p/caller_lock.hpp"
#include "p2p/copying.hpp"
#include "p2p/link.hpp"
#include "p2p/matching.hpp"
#include "p2p/open_message.hpp"
#include "p2p/outbound.hpp"
#include "p2p/payload_memory.hpp"
#include "p2p/pool.hpp"
#include "p2p/port.hpp"
#include "p2p/request_lists.hpp"
#include "p2p/signals.hpp"
#include "p2p/unexpected.hpp"
#include "p2p/unexpected_pool.hpp"

namespace urakata::p2p {

enum class Mode : std::uint8_t {
  standard,     // finished when the buffer may be used again
  synchronous,  // finished when the receive has matched
  buffered,     // the buffer may be used again at once; the request is finished when the message is on its way
};

class Endpoint {
 public:
  static constexpr std::uint64_t kEager = p2p::kEager;  // payload bytes of the largest eager message
  static constexpr std::uint64_t kMostAside =
      PayloadMemory::kMostAside;  // bytes that are copied aside in exchanges, at a time
  static constexpr std::uint32_t kTests =
      64;  // unsuccessful: by then they have cost about what setting a send aside does

  // `callers`: which threads may call (caller_lock.hpp).
  explicit Endpoint(Callers callers, const BackoffSettings& backoff_settings = {}, const CopyingSettings& copying = {});
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  Port& port() { return port_; }
  const BackoffSettings& backoff_settings() const { return backoff_settings_; }

  // Starts a send. nullptr: it is finished already. Otherwise the caller ends with release().
  Request* send(Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode);
  // The fast path of send(): a message of plain bytes, and eager. False: nothing was done, send() is needed.
  bool send_at_once(Port& to, const Envelope& envelope, const Buffer& buffer);

  // From now on messages also come and go by this link, which outlives the endpoint. Before the first message; the
  // space's messages cost what they did. receive_at_once() does not poll the link.
  void attach(Link& link);
  // Starts a send to a peer beyond the link. nullptr: the send is finished. Otherwise the caller ends with release();
  // the request's result has the outcome `failed` if the peer is lost.
  Request* send(LinkPeer to, const Envelope& envelope, const Buffer& buffer, Mode mode);
  // The rank beyond the link is lost: posted receives that name it end with the outcome `failed`. (Which rank of a
  // communicator a peer of the link is, only the caller knows.) `source` kAnySource: those that name none.
  void fail_receives(std::uint32_t context, std::int32_t source);
  bool lost(LinkPeer peer);
  // How far the payload of a request by the link has come. The request must not have been released. Needs attach().
  Transfer transfer(const Request& request);
  // Where a posted receive waits for this rank of the context, or with `from_any` for any: the loss of the peer that
  // it is becomes known, also where nothing has gone between the two yet.
  void watch(std::uint32_t context, std::int32_t source, bool from_any, LinkPeer peer);

  // Starts a receive. `pattern` may have wildcards.
  Request& receive(const Envelope& pattern, const Buffer& buffer);
  // The fast path of a whole receive, without a request: of plain bytes, while nothing else is under way here, and an
  // eager message that fits is here or comes soon. False: nothing was done, receive() is needed.
  bool receive_at_once(const Envelope& pattern, const Buffer& buffer, Result* result);

  // Is there a message that a receive with this pattern would take? Does not take it.
  bool probe(const Envelope& pattern, Result* found);
  // Takes that message out of matching; nullptr if there is none. The caller ends with receive() of it.
  Unexpected* take(const Envelope& pattern, Result* found);
  Request& receive(Unexpected& message, const Buffer& buffer);

  // Start a persistent request, which may get a matched persistent pair (pair.hpp). The arguments are those of send()
  // and receive(), and the same at each start except for the buffer's address. The Persistent's address must not
  // change until end().
  void expect_pairs();  // must be called before the first start
  Request* start(Persistent& send, Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode);
  Request& start(Persistent& receive, const Envelope& pattern, const Buffer& buffer);
  // Replaces the other release() for a finished receive of a persistent request.
  void release(Persistent& receive, Request& request);
  // Ends the pair of the request, if it has one. `open`: the request of the present start, if any. It becomes an
  // ordinary request and is matched with what has come for it.
  void end(Persistent& persistent, Request* open);

  // Takes a receive back that has not been matched: it is finished then, with the outcome `cancelled`. False: too late.
  bool cancel(Request& request);

  // Whether the receive is still posted, that is, has not been matched.
  bool posted(const Request& request);
  // Takes a receive back that has not been matched, because its message comes another way. False: too late. The caller
  // ends with discard() instead of release(), or goes on with restore(): the receive is started again, as the last.
  bool withdraw(Request& request);
  void discard(Request& request);
  void restore(Request& request);

  // Moves everything on that can move without waiting, or until `awaited` is finished. Returns whether anything moved.
  bool progress(const Request* awaited = nullptr);

  // progress() for a progress thread: does nothing if another thread of the rank holds the lock.
  void progress_if_free();
  // The same of the link alone, for its progress thread, which must not enter the MPI library: what only a layout can
  // unpack is left to the threads of the rank. (A space's messages unpack where they are matched.)
  void progress_link_if_free();

  // Returns when the request is done. The caller still ends with release().
  void wait(Request& request) {
    if (!request.done()) wait_long(request);
  }
  // Copies a send's payload aside, where that may be, so that it is done. For a caller that has waited in vain.
  void set_aside(Request& request);
  // A caller that does not wait has found the request unfinished. After many such tests a send is set aside.
  void note_unsuccessful_test(Request& request) {
    if (request.movable && ++request.tests == kTests) set_aside(request);
  }

  // Gives a request back. One that is not finished goes on by itself, and its buffer has to stay until then;
  // `release_layout` is then called with it at the end, by the thread that is in the endpoint, a progress thread too.
  void release(Request& request, void (*release_layout)(const Request&) = nullptr);

  // Whether nothing is left that other ranks wait for: no send of ours is in our list or unfinished after its
  // release(), and nothing is under way by the link.
  bool idle() {
    const Guard guard(lock_);
    return lists_.empty() && link_idle();
  }

  // Has the rank requests that it has not given back, or that go on by themselves? By any thread.
  bool open() const { return signals_.open(); }
  // Whether exactly one such request is open. By any thread.
  bool one_open() const { return signals_.one_open(); }

 private:
  using Guard = LockGuard<CallerLock>;

  class Pairs;

  Pairs* pairs() const URAKATA_REQUIRES(lock_) { return pairs_.load(std::memory_order_acquire); }
  const Slot* soon_here() URAKATA_REQUIRES(lock_);
  Request* send_unpaired(Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode) URAKATA_REQUIRES(lock_);
  // `asks`: whether the send asks for a matched persistent pair; it must then not finish before its receive has
  // matched.
  Request& make_send(Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode, bool whole, bool asks = false)
      URAKATA_REQUIRES(lock_);
  void launch(Request& send) URAKATA_REQUIRES(lock_);
  Rts rts_of(Request& send) URAKATA_REQUIRES(lock_);
  bool push(Request& send) URAKATA_REQUIRES(lock_);
  bool flush() URAKATA_REQUIRES(lock_);
  void arrive(const Slot& slot) URAKATA_REQUIRES(lock_);
  Unexpected& keep(const Slot& slot) URAKATA_REQUIRES(lock_);
  void deliver(Request& receive, const Slot& slot) URAKATA_REQUIRES(lock_);
  void deliver(Request& receive, Unexpected& message) URAKATA_REQUIRES(lock_);
  void match(Request& receive) URAKATA_REQUIRES(lock_);
  void prepare_probe(const Envelope& pattern) URAKATA_REQUIRES(lock_);
  bool match_unexpected(Request& receive) URAKATA_REQUIRES(lock_);
  Request& new_request() URAKATA_REQUIRES(lock_);
  void finish(Request& request) URAKATA_REQUIRES(lock_);
  void recycle(Request& request) URAKATA_REQUIRES(lock_);
  void dispose(Request& request) URAKATA_REQUIRES(lock_);
  void reap() URAKATA_REQUIRES(lock_);  // disposes of sends given back that have ended meanwhile
  void release_with_care(Request& request, void (*release_layout)(const Request&)) URAKATA_REQUIRES(lock_);

  // rendezvous.cpp
  bool exchanging() const URAKATA_REQUIRES(lock_);  // are there receives that wait for messages?
  void prepare(Request& send, Mode mode, bool asks) URAKATA_REQUIRES(lock_);
  bool copy_aside(Request& send) URAKATA_REQUIRES(lock_);
  void pull(Request& receive, const Rts& rts) URAKATA_REQUIRES(lock_);
  bool pull_shared(Request& receive, const Rts& rts) URAKATA_REQUIRES(lock_);
  bool finish_shared(Request& receive) URAKATA_REQUIRES(lock_);
  void end_rendezvous(Request& receive) URAKATA_REQUIRES(lock_);

  // link_messages.cpp
  class LinkMessages;
  // Without the lock, and so not analysed: LinkMessages::can_progress() is for any thread.
  bool link_can_progress() const URAKATA_NOT_ANALYSED;
  bool step_link() URAKATA_REQUIRES(lock_);
  bool link_idle() const URAKATA_REQUIRES(lock_);
  void deliver_link_message(Request& receive, Unexpected& message) URAKATA_REQUIRES(lock_);

  // progress.cpp
  void wait_long(Request& request);
  bool can_progress() const;
  void note_stream() URAKATA_REQUIRES(lock_);
  bool step(const Request* awaited = nullptr) URAKATA_REQUIRES(lock_);

  // Constant after construction.
  const BackoffSettings backoff_settings_;
  const CopyingSettings copying_;

  alignas(kLine) CallerLock lock_;  // by any thread of the rank that may call; in one line with the queues of matching_

  // Touched only by the thread that holds the lock; locking acquires, unlocking releases.
  Matching matching_ URAKATA_GUARDED_BY(lock_);
  RequestLists lists_ URAKATA_GUARDED_BY(lock_);
  Pool<Request> requests_ URAKATA_GUARDED_BY(lock_);
  UnexpectedPool unexpected_ URAKATA_GUARDED_BY(lock_);
  PayloadMemory memory_ URAKATA_GUARDED_BY(lock_);
  Signals signals_;                              // read by any thread of the rank
  Outbound outbound_ URAKATA_GUARDED_BY(lock_);  // in one line with signals_

  // nullptr: no link. Constant after attach(); here because a waiting thread reads it together with signals_.
  std::unique_ptr<LinkMessages> link_messages_ URAKATA_POINTEE_GUARDED_BY(lock_);
  std::atomic<Pairs*> pairs_{nullptr};  // constant once set
  std::unique_ptr<Pairs> own_pairs_ URAKATA_GUARDED_BY(lock_);

  // Accessed by every rank of the space.
  Port port_;
};

}  // namespace urakata::p2p

#include "p2p/fast_path.hpp"
