// SPDX-License-Identifier: BSD-3-Clause
// The matched persistent pairs of an endpoint: the pairs' ends at this rank. pair.hpp has the protocol.
//
// Tables indexed by the other rank hold both kinds of ends. A message to or from a rank without a pair
// therefore pays for one load only.
//
// The start of a send costs one copy into the ring and one store, the start of a receive a few stores to local memory.
// Neither allocates, matches, or takes a lock other than the endpoint's (caller_lock.hpp).
//
// Part of endpoint.hpp, which includes this file behind the class.
//
// Thread-safety: all functions under the endpoint's lock; can_progress() by any thread if several threads use the
// endpoint. What the endpoint calls asserts that lock, since clang's analysis does not know that here_.lock_ is the
// lock that the endpoint has taken.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "p2p/pair.hpp"

namespace urakata::p2p {

class Endpoint::Pairs final : public Port::Further {
 public:
  Pairs(Endpoint& here, bool one_thread) : here_(here), one_thread_(one_thread) {}

  // Start a persistent request. The arguments are those of Endpoint::send() and receive().
  Request* start(Persistent& send, Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode);
  Request& start(Persistent& receive, const Envelope& pattern, const Buffer& buffer);
  // Whether this is the one request of all starts, which must not be returned to the pool when a start is complete. If
  // it is, notes that the completion has been reported to the program.
  bool keeps(Persistent& receive, const Request& request);
  void end(Persistent& persistent, Request* open);

  // Before an ordinary send, receive or probe.
  bool sends_to(const Port& to) const {
    assert_held();
    return out_[place_of(to)] != nullptr;
  }
  bool receives_from(std::int32_t source) const {
    assert_held();
    return source == kAnySource ? ends_ != 0 : in_[place_of(source)] != nullptr;
  }
  void before_send(const Port& to, const Envelope& envelope);
  void before_receive(const Envelope& pattern);
  // Before a message of the inbox is matched.
  void before_arrival(const Envelope& envelope, std::uint32_t order);
  // A persistent receive has matched an RTS that asks for a pair.
  void meet(Request& receive, const Rts& rts);

  // Takes the puts that have come. Returns whether there were any.
  bool step();
  bool can_progress() const override;
  // Whether a started receive waited at the last poll.
  bool waits() const {
    assert_held();
    return !waiting_.empty();
  }
  // If the request is a pair's receive: polls for its put, and nothing else, for a short time.
  void await(const Request& request);

 private:
  void assert_held() const URAKATA_ANNOTATION(assert_capability(here_.lock_)) {}  // as that of the lock
  static constexpr std::size_t kPlaces = 64;
  static std::size_t place_of(std::int32_t source) { return static_cast<std::uint32_t>(source) % kPlaces; }
  static std::size_t place_of(const Port& port) {
    return reinterpret_cast<std::uintptr_t>(&port) / sizeof(Port) % kPlaces;
  }

  // pairs_out.cpp
  Put* free_entry(SendEnd& end) const URAKATA_REQUIRES(here_.lock_);
  Request* put(SendEnd& end, Put& entry, const Buffer& buffer, Mode mode) URAKATA_REQUIRES(here_.lock_);
  Request* ask(Persistent& send, Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode)
      URAKATA_REQUIRES(here_.lock_);
  void end(SendEnd& end) URAKATA_REQUIRES(here_.lock_);
  SendEnd& new_end() URAKATA_REQUIRES(here_.lock_);

  // pairs_in.cpp
  bool alone(const Envelope& key) const URAKATA_REQUIRES(here_.lock_);
  void take(ReceiveEnd& end, Put& put) URAKATA_REQUIRES(here_.lock_);
  void tell(ReceiveEnd& end) URAKATA_REQUIRES(here_.lock_);
  void close(ReceiveEnd& end) URAKATA_REQUIRES(here_.lock_);
  bool settle() URAKATA_REQUIRES(here_.lock_);
  void hand_over(ReceiveEnd& end) URAKATA_REQUIRES(here_.lock_);
  void empty_inbox() URAKATA_REQUIRES(here_.lock_);
  void forget_ended() URAKATA_REQUIRES(here_.lock_);
  void note() URAKATA_REQUIRES(here_.lock_) {
    busy_.store(!waiting_.empty() || !closed_.empty(), std::memory_order_relaxed);
  }

  Endpoint& here_;
  const bool one_thread_;

  std::array<SendEnd*, kPlaces> out_ URAKATA_GUARDED_BY(here_.lock_){};
  std::vector<std::unique_ptr<SendEnd>> made_ URAKATA_GUARDED_BY(here_.lock_);
  // Ends of sends that have ended and had not been released at the last check.
  std::vector<SendEnd*> leaving_ URAKATA_GUARDED_BY(here_.lock_);
  std::vector<SendEnd*> free_ URAKATA_GUARDED_BY(here_.lock_);
  std::uint64_t generation_ URAKATA_GUARDED_BY(here_.lock_) = 0;

  std::array<std::unique_ptr<ReceiveEnd>, kPlaces> in_ URAKATA_GUARDED_BY(here_.lock_){};
  std::size_t ends_ URAKATA_GUARDED_BY(here_.lock_) = 0;  // number of ends of receives, closed ones included
  // Ends of receives whose put had not come at the last poll; capacity for all.
  std::vector<ReceiveEnd*> waiting_ URAKATA_GUARDED_BY(here_.lock_);
  // Closed ends of receives that their senders have not ended.
  std::vector<ReceiveEnd*> closed_ URAKATA_GUARDED_BY(here_.lock_);
  std::atomic<bool> busy_{false};  // whether `waiting_` or `closed_` has elements; relaxed
};

}  // namespace urakata::p2p
