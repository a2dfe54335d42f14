// SPDX-License-Identifier: BSD-3-Clause
// A matched persistent pair: a persistent send and a persistent receive of two ranks of a space. Once they have
// matched, later starts meet without matching. A start of the send is a one-sided put into a ring at the receiver,
// followed by a sequence flag that only grows. A start of the receive notes that the next put belongs to it.
//
//     at the receiver, written by the sender   a ring of kRingEntries entries; `ended`
//     at the sender, written by the receiver   `state`, `taken`, `released`
//
// An entry holds what a slot of the inbox holds: an eager payload or an RTS. All sizes, layouts and modes therefore
// work as without a pair (endpoint.hpp).
//
// How a pair begins. The second start of a persistent send asks for a pair (Rts::pairs). The message is then a
// rendezvous whatever its size, so that the answer has come when the send has finished. A receiver accepts if
//     - a persistent receive without a wildcard has matched the message;
//     - that receive has no pair yet, is not shorter than the message, and is from another rank;
//     - no other receive there could take a message with the same *key* (context, source and tag), and no other message
//       with that key is there.
// The receiver then makes the ring and stores the address of its end in `state`. The next start of the send
// uses the pair if the receiver has accepted; otherwise it ends the request for a pair.
//
// How a pair ends. Anything else that could match ends the pair, at once and for that side alone. Messages and receives
// are ordinary afterwards.
//     the sender ends it     before it sends anything else with that key; if no entry is free; if sends to that rank
//                            wait for room in its inbox; if the request is freed
//     the receiver ends it   before it starts another receive, or a probe, that matches the key; if a message with the
//                            key comes through the inbox; if the request is freed or cancelled
// The send asks again some starts later. The distance doubles with each attempt that was not worth its cost.
//
// Invariants
//   1. A key has at most one open pair, at either end. While a pair is open, all messages with the key are puts, and
//      all receives that match the key are starts of the pair's receive. The k-th start of the receive therefore takes
//      put k.
//   2. Put k uses entry k mod kRingEntries, after the receiver has taken put k - kRingEntries. The sender learns this
//      from `taken`.
//   3. A sender numbers its puts and its other messages in one sequence (older()). It stores a put's sequence flag
//      after all its earlier messages are in the inbox. A receiver that has closed a pair can therefore give each put
//      left in the ring its place among the sender's other messages: a put is matched after all older messages of the
//      inbox and before all younger ones. The older ones lie before the inbox's tail as read after the put's flag has
//      been seen.
//   4. A receiver that closes says so in `state`. Until the sender has stored `ended`, one more put may come for each
//      free entry, and the receiver keeps polling.
//   5. `ended` tells how many puts there are. After storing it the sender never touches the receiver's end, and
//      may send with the key through the inbox. After storing `released` the receiver never touches the sender's end,
//      which the sender then reuses. The memory of senders' ends is never freed, so a late answer still
//      finds an end: the answer names the generation that it is for, and `state` holds another.
//
// tests/model/pair.pml has spin check all interleavings of a bounded model: few messages, a ring of two entries, and no
// memory order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "p2p/open_message.hpp"
#include "p2p/port.hpp"
#include "p2p/slot.hpp"

namespace urakata::p2p {

struct SendEnd;
struct ReceiveEnd;

// The endpoint's record of a persistent request. Accessed under the endpoint's lock; its address must not change.
struct Persistent {
  std::uint64_t starts = 0;
  // Number of the first start at which a send asks for a pair. Not the first one, which may be the only one.
  std::uint64_t asks_at = 2;
  std::uint64_t backoff = 2;  // starts between the end of a pair and the next start that asks
  SendEnd* out = nullptr;     // end of a send that has a pair, or has asked for one
  ReceiveEnd* in = nullptr;   // end of a receive that has a pair
};

// The first line of an entry of the ring; further payload lies right behind.
struct alignas(kLine) Put {
  static constexpr std::size_t kPayload = kLine - 16;  // bytes in the first line

  std::atomic<std::uint64_t> flag{0};  // sequence flag: number of the put, from 1; stored by the sender, release
  std::uint32_t order = 0;             // number in the sender's sequence, see older()
  std::uint16_t bytes = 0;             // length of an eager payload
  Kind kind = Kind::eager;
  alignas(8) std::byte first[kPayload];

  std::byte* payload() { return reinterpret_cast<std::byte*>(this) + (kLine - kPayload); }
};
static_assert(sizeof(Put) == kLine && offsetof(Put, first) == kLine - Put::kPayload);
static_assert(sizeof(Rts) <= Put::kPayload);

inline constexpr std::uint64_t kRingEntries = 8;

// The receiver's end of a pair, owned by the receiver's p2p::Endpoint.
struct ReceiveEnd {
  // The entry of put k.
  Put& entry(std::uint64_t k) const { return *reinterpret_cast<Put*>(ring[k % kRingEntries * lines].bytes); }
  // The next put, if it has arrived.
  Put* next_put() const { return put_at(taken + 1); }
  Put* put_at(std::uint64_t k) const {
    Put& put = entry(k);
    return put.flag.load(std::memory_order_acquire) == k ? &put : nullptr;
  }

  // Constant once the sender may find this end.
  struct alignas(kLine) Line {
    std::byte bytes[kLine];
  };
  std::unique_ptr<Line[]> ring;
  std::uint64_t lines = 1;  // cache lines of an entry
  Envelope key;
  SendEnd* sender = nullptr;
  std::uint64_t generation = 0;  // generation of the sender's end
  const Port* sender_port = nullptr;

  // Used by the receiver only.
  std::unique_ptr<ReceiveEnd> next;  // next end whose source has the same residue
  Persistent* owner = nullptr;       // nullptr: the pair is closed
  Request* request = nullptr;        // the one request of all starts, while the pair is open
  bool started = false;              // whether a start's completion has not been reported to the program yet
  bool waiting = false;              // whether a start's put has not come yet
  bool listed = false;               // whether the list of waiting ends has this one; cleared late, by a poll
  std::uint64_t taken = 0;           // number of puts taken
  std::uint64_t told = 0;            // number of taken puts that the sender has been told of
  std::uint64_t sighted = 0;         // after closing: number of puts that had come when the inbox was emptied

  alignas(kLine) std::atomic<std::uint64_t> ended{0};  // number of puts + 1; stored once by the sender, release
};

// The sender's end of a pair, owned by the sender's p2p::Endpoint.
struct alignas(kLine) SendEnd {
  // Bits of `state`. The rest is the address of the receiver's end, a multiple of a line, or a generation.
  static constexpr std::uint64_t kWaiting = 1;  // with a generation: the receiver has not accepted yet
  static constexpr std::uint64_t kClosed = 2;   // with the address: the receiver takes no further starts
  static constexpr std::uint64_t kEnded = 4;    // the sender has ended the pair
  static constexpr std::uint64_t waiting_for(std::uint64_t generation) { return generation << 3U | kWaiting; }
  static ReceiveEnd* address_in(std::uint64_t state) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<ReceiveEnd*>(state & ~std::uint64_t{kLine - 1});
  }

  // Written by both ranks, acquire and release. Read at each start, and seldom written.
  std::atomic<std::uint64_t> state{kEnded};
  std::atomic<std::uint64_t> released{0};  // generation that the receiver has released; stored by the receiver, release

  alignas(kLine) std::atomic<std::uint64_t> taken{0};  // number of puts taken; stored by the receiver, release

  // Used by the sender only.
  alignas(kLine) SendEnd* next = nullptr;
  Port* to = nullptr;
  Persistent* owner = nullptr;
  ReceiveEnd* receiver = nullptr;  // nullptr until the sender has found that the receiver accepted
  Envelope key;                    // key of the messages, as the receiver sees it
  std::uint64_t generation = 0;
  std::uint64_t put = 0;   // number of puts made
  std::uint64_t seen = 0;  // `taken` when it was read last
};
static_assert(alignof(ReceiveEnd) == kLine);

}  // namespace urakata::p2p
