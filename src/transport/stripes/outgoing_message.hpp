// SPDX-License-Identifier: BSD-3-Clause
// A message on its way out by transport `stripes`, and all messages of a pair that are.
//
// Ownership: the payload is the caller's until its waiter is told. What is not acknowledged then has been copied to
// memory of ours.
//
// Thread-safety: under the lock of Stripes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/link_facts.hpp"
#include "transport/stripes/completion_queue.hpp"
#include "transport/stripes/stripe_sizes.hpp"

namespace urakata::transport {

// Names a message of a pair in one direction: the number counts the messages of its tag.
struct MessageKey {
  std::int32_t tag = 0;
  std::uint64_t number = 0;
  auto operator<=>(const MessageKey&) const = default;
};

struct OutgoingMessage {
  struct Payload {
    const std::byte* address = nullptr;  // of the byte at offset `from`
    std::uint64_t from = 0;
    std::vector<std::byte> kept;  // the payload, where it is ours

    const std::byte* at(std::uint64_t offset) const { return address + static_cast<std::ptrdiff_t>(offset - from); }
  };
  struct Span {
    std::uint64_t offset, bytes;
  };

  MessageKey key;
  Streams streams;  // as the message has it
  std::uint64_t bytes = 0;
  Payload payload;
  std::uint64_t next = 0;           // what lies before it has been given to stripes
  bool given = false;               // all has, once
  bool clear_to_send = false;       // the receive is there
  std::uint32_t queued = 0;         // pieces that a stripe has and the kernel has not
  std::vector<Span> again;          // pieces of lost stripes
  std::set<std::uint64_t> unacked;  // offsets
  Waiter waiter;

  bool more() const { return !given || !again.empty(); }
  // Whether the message has a piece that a stripe may be given now.
  bool ready() const { return more() && (clear_to_send || next < StripeSizes::kPush || !again.empty()); }
  // Is what is not acknowledged no more than we keep?
  bool may_be_kept() const { return unacked.empty() || bytes - *unacked.begin() <= StripeSizes::kMostKept; }
  // What is not acknowledged is ours from now on.
  void keep();
  // The rest is not sent, and nobody waits. What stripes have been given goes on.
  void give_up();
};

struct OutgoingMessages {
  std::list<OutgoingMessage> open;
  std::deque<OutgoingMessage*> waiting;  // those that have more() to give
  std::uint64_t backlog = 0;             // bytes that are to be given
  std::uint64_t first_bytes = 0;         // that may still go in first flights of more stripes than the link needs
  std::unordered_map<std::int32_t, std::uint64_t> sent;  // messages of a tag

  void clear_to_send(std::int32_t tag, std::uint64_t number);
  // The lost stripe had this piece, which is to go by another.
  void give_again(OutgoingMessage& message, const OutgoingMessage::Span& piece);
  // All of it has been acknowledged.
  void remove(const OutgoingMessage& message);
};

}  // namespace urakata::transport
