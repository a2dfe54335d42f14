// SPDX-License-Identifier: BSD-3-Clause
// Matching: the posted receives, which wait for a message, and the unexpected messages, which wait for a receive. Both
// queues are in order, oldest first. Owns nothing.
//
// Invariant: Request::posted is set exactly while the posted queue has the request.
//
// Thread-safety: all functions under the endpoint's lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "p2p/open_message.hpp"
#include "p2p/queue.hpp"
#include "p2p/unexpected.hpp"

namespace urakata::p2p {

class Matching {
 public:
  // Whether both queues are empty.
  bool empty() const { return posted_.empty() && unexpected_.empty(); }
  bool any_posted() const { return !posted_.empty(); }
  std::size_t posted() const { return posted_.size(); }  // number of posted receives
  bool any_unexpected() const { return !unexpected_.empty(); }

  // Posts a receive that has matched nothing.
  void post(Request& receive) {
    receive.posted = true;
    posted_.push(receive);
  }
  // Takes out the oldest posted receive that matches the message; nullptr if there is none.
  Request* take_receive(const Envelope& message) {
    Request* const receive = posted_.take([&](const Request& r) { return matches(r.envelope, message); });
    if (receive != nullptr) receive->posted = false;
    return receive;
  }
  // Takes out this receive. False: it is not posted.
  bool take_back(Request& receive) {
    if (!receive.posted) return false;
    posted_.take([&](const Request& r) { return &r == &receive; });
    receive.posted = false;
    return true;
  }
  // Takes out the posted receives of this context whose pattern has exactly this source (kAnySource: the wildcard).
  // Calls `taken` with each, to which the receive then belongs.
  template <class Taken>
  void take_receives(std::uint32_t context, std::int32_t source, Taken taken) {
    posted_.take_all([&](Request& receive) {
      if (receive.envelope.context != context || receive.envelope.source != source) return false;
      receive.posted = false;
      taken(receive);
      return true;
    });
  }
  // Whether a posted receive of this context names this source, or, if `from_any`, has the wildcard.
  bool awaits(std::uint32_t context, std::int32_t source, bool from_any) const;

  // Keeps a message that no posted receive matches, as the youngest.
  void keep(Unexpected& message) { unexpected_.push(message); }
  // Keeps a message that may be older than unexpected ones of its sender and context: inserts it before the first
  // younger one of these.
  void keep_in_order(Unexpected& message);
  // The oldest unexpected message that the pattern matches; nullptr if there is none.
  const Unexpected* find(const Envelope& pattern) const;
  // find(), and takes the message out.
  Unexpected* take_message(const Envelope& pattern) {
    return unexpected_.take([&](const Unexpected& u) { return matches(pattern, u.envelope); });
  }

  // Whether no posted receive matches this message, and no unexpected message has the same envelope.
  bool alone(const Envelope& key) const;

 private:
  Queue<Request> posted_;
  Queue<Unexpected> unexpected_;
};

}  // namespace urakata::p2p
