// SPDX-License-Identifier: BSD-3-Clause
// What an endpoint hands on to others: it numbers their messages, and writes eager ones into inboxes. Inline, for the
// fast path.
//
// Thread-safety: under the endpoint's lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "p2p/message_slots.hpp"
#include "p2p/port.hpp"

namespace urakata::p2p {

class Outbound {
 public:
  // The number of the next message, to whichever rank it goes; see older().
  std::uint32_t number() { return ++order_; }

  // Writes an eager message. False: there is no room in the inbox; nothing was done.
  [[gnu::always_inline]] bool send_eager(Port& to, const Envelope& envelope, const std::byte* payload,
                                         std::uint64_t bytes) {
    const std::uint32_t slots = slots_for(bytes);
    std::uint64_t position = 0;
    if (!to.inbox.claim(slots, &position)) return false;
    fill(to.inbox, position, slots, number(), envelope, Kind::eager, payload, bytes, sent_last_);
    sent_last_ = true;
    to.wake();
    return true;
  }
  // To be called when a message of the inbox is taken: the sends before it no longer count as a stream.
  void note_arrival() { sent_last_ = false; }

 private:
  std::uint32_t order_ = 0;  // number of the last message
  bool sent_last_ = false;   // whether a small message was sent, and none has come since
};

}  // namespace urakata::p2p
