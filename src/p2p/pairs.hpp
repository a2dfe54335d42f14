// The fixed pairs of an endpoint: their ends at this rank. See pair.hpp for the protocol.
//
// Both kinds of ends are found by the other rank, so that messages of ranks without a pair between them pay no more
// than one load.
//
// What a start costs: of the send one copy into the ring and one store, of the receive a few stores at home. No
// allocation, no matching, and no lock but the endpoint's (caller_lock.hpp).
//
// Part of endpoint.hpp, which includes it behind the class.
//
// Thread-safety: by whoever has the endpoint's lock; busy() by any thread.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "p2p/pair.hpp"

namespace urakata::p2p {

class Endpoint::Pairs final : public Port::Further {
 public:
  Pairs(Endpoint& here, bool one_thread) : here_(here), one_thread_(one_thread) {}

  // Starts of persistent requests. As Endpoint::send() and receive().
  Request* start(Persistent& send, Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode);
  Request& start(Persistent& receive, const Envelope& pattern, const Buffer& buffer);
  // Is this the request of all starts, so that it is not to be given back when one of them is over? Notes that the program
  // has been told of its end.
  bool keeps(Persistent& receive, const Request& request);
  void end(Persistent& persistent, Request* open);

  // Before an ordinary send, receive or probe.
  bool sends_to(const Port& to) const { return out_[place_of(to)] != nullptr; }
  bool receives_from(std::int32_t source) const {
    return source == kAnySource ? ends_ != 0 : in_[place_of(source)] != nullptr;
  }
  void before_send(const Port& to, const Envelope& envelope);
  void before_receive(const Envelope& pattern);
  // Before a message of the inbox is matched.
  void before_arrival(const Envelope& envelope, std::uint32_t order);
  // A persistent receive has matched an RTS that would pair.
  void meet(Request& receive, const Rts& rts);

  // Takes what has come. Returns whether anything had.
  bool step();
  bool news() const override;
  bool waits() const { return !waiting_.empty(); }  // has a receive, as of the last poll
  // Polls for the receive's put for a short time, without anything else, where it is one of a pair.
  void await(const Request& request);

 private:
  static constexpr std::size_t kPlaces = 64;
  static std::size_t place_of(std::int32_t source) { return static_cast<std::uint32_t>(source) % kPlaces; }
  static std::size_t place_of(const Port& port) {
    return reinterpret_cast<std::uintptr_t>(&port) / sizeof(Port) % kPlaces;
  }

  // pairs_out.cpp
  Put* free_entry(SendEnd& end) const;
  Request* put(SendEnd& end, Put& entry, const Buffer& buffer, Mode mode);
  Request* ask(Persistent& send, Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode);
  void end(SendEnd& end);
  SendEnd& new_end();

  // pairs_in.cpp
  bool alone(const Envelope& key) const;
  void take(ReceiveEnd& end, Put& put);
  void tell(ReceiveEnd& end);
  void close(ReceiveEnd& end);
  bool settle();
  void hand_over(ReceiveEnd& end);
  void empty_inbox();
  void forget_ended();
  void note() { busy_.store(!waiting_.empty() || !closed_.empty(), std::memory_order_relaxed); }

  Endpoint& here_;
  const bool one_thread_;

  std::array<SendEnd*, kPlaces> out_{};
  std::vector<std::unique_ptr<SendEnd>> made_;
  std::vector<SendEnd*> leaving_;  // ended, and not released when polled last
  std::vector<SendEnd*> free_;
  std::uint64_t generation_ = 0;

  std::array<std::unique_ptr<ReceiveEnd>, kPlaces> in_{};
  std::size_t ends_ = 0;              // of receives
  std::vector<ReceiveEnd*> waiting_;  // started, and the put had not come at the last poll; with room for all ends
  std::vector<ReceiveEnd*> closed_;   // and not ended by their senders
  std::atomic<bool> busy_{false};     // one of the two has something; relaxed
};

}  // namespace urakata::p2p
