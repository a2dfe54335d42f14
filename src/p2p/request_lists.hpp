// SPDX-License-Identifier: BSD-3-Clause
// The requests of an endpoint that its own progress has to end, besides those that wait for a match:
//     pending    sends that wait for room in an inbox
//     finishing  receives whose last pieces the sender is copying
//     abandoned  rendezvous sends that were given back before their end
// A request is in one list at most. Each list is in order, oldest first. Owns nothing.
//
// Thread-safety: under the endpoint's lock. Signals::listed() says without the lock whether a list has elements: each
// addition sets it, and tell() brings it up to date.
#pragma once

#include "p2p/open_message.hpp"
#include "p2p/queue.hpp"
#include "p2p/signals.hpp"

namespace urakata::p2p {

class RequestLists {
 public:
  bool empty() const { return pending_.empty() && abandoned_.empty() && finishing_.empty(); }
  void tell(Signals& signals) const { signals.set_listed(!empty()); }

  void add_pending(Request& send, Signals& signals) { add(pending_, send, signals); }
  void add_finishing(Request& receive, Signals& signals) { add(finishing_, receive, signals); }
  void add_abandoned(Request& send, Signals& signals) { add(abandoned_, send, signals); }

  bool any_pending() const { return !pending_.empty(); }
  bool any_finishing() const { return !finishing_.empty(); }
  bool any_abandoned() const { return !abandoned_.empty(); }
  bool pending_to(const Port& to) const {
    for (const Request* request = pending_.first(); request != nullptr; request = request->next) {
      if (request->to == &to) return true;
    }
    return false;
  }

  // Each takes out the requests of a list for which the function returns true. Of the pending sends to one rank none
  // overtakes another: a full inbox blocks later sends to it, and no others. take_pending() returns whether any was
  // taken.
  template <class Push>
  bool take_pending(Push push) {
    return pending_.take_in_order([](const Request& send) { return static_cast<const Port*>(send.to); }, push);
  }
  template <class Finish>
  void take_finishing(Finish finish) {
    finishing_.take_all(finish);
  }
  template <class End>
  void take_abandoned(End end) {
    abandoned_.take_all(end);
  }

 private:
  static void add(Queue<Request>& queue, Request& request, Signals& signals) {
    queue.push(request);
    signals.set_listed(true);
  }

  Queue<Request> pending_;
  Queue<Request> finishing_;
  Queue<Request> abandoned_;
};

}  // namespace urakata::p2p
