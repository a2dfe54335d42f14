// A fixed pair: a persistent send and a persistent receive of two ranks of a space that have met, and from then on meet
// again and again without matching. A start of the send is a one-sided put into a ring at the receiver, with a mark
// that only grows; a start of the receive is a note that the next one is its.
//
//     at the receiver, by the sender   a ring of kRingEntries entries; `ended`
//     at the sender, by the receiver   `state`, `taken`, `released`
//
// An entry holds what a slot of the inbox holds: an eager payload, or an RTS. So all sizes, layouts and modes are as
// they are without a pair (endpoint.hpp).
//
// How it begins. The second start of a persistent send asks for a pair (Rts::pairs; their message is a rendezvous
// whatever its size, so that the answer is here when the send is finished). Where a persistent receive from that rank with
// that tag takes it, and nothing else there could take or be taken by a message of the same *key* (context, source and
// tag), the receiver makes the ring and accepts: it stores its end's address in `state`. The next start of the send
// finds that and uses it, or not.
//
// How it ends. Whatever else could match ends it, at once and for that side alone; messages and receives are ordinary then:
//     the sender    before it sends anything else with that key; where it has put so many that no entry is free; where
//                   sends to that rank wait for room in its inbox; where the request is freed
//     the receiver  before it starts another receive, or probes for a message, that matches the key; where a message
//                   with the key comes by the inbox; where the request is freed or cancelled
// It asks again some starts later; the more, the oftener it was in vain.
//
// Invariants
//   1. A key has at most one pair that is open, at either end; while it is, all messages with the key are puts, and all
//      receives that match it are starts of its receive. So put k is what the k-th start of the receive takes.
//   2. Put k uses entry k mod kRingEntries, when the receiver has taken k - kRingEntries. The sender knows by `taken`.
//   3. A sender numbers its puts and its other messages in one sequence (older()), and stores a put's mark after what it
//      has sent before is in the inbox. So a receiver that has closed a pair puts what is yet in the ring to its place
//      among the other messages of that sender: a put is handed to matching after all messages in the inbox that are older,
//      which lie before the inbox's tail as it is once the mark is seen, and before all that are younger.
//   4. A receiver that closes says so in `state`; until the sender has said `ended` there may be one more put for each free
//      entry, and the receiver goes on to poll.
//   5. After `ended`, which tells how many puts there are, the sender never touches the receiver's end, and may send with
//      the key by the inbox. After `released` the receiver never touches the sender's end, which is used again then.
//      Sender's ends are never given back to the system, so that an answer which comes too late meets one: it names the
//      generation that it is for, and `state` holds another.
//
// tests/model/pair.pml has spin look at all interleavings.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "p2p/port.hpp"
#include "p2p/request.hpp"
#include "p2p/slot.hpp"

namespace urakata::p2p {

struct SendEnd;
struct ReceiveEnd;

// What a persistent request is to its endpoint. By whoever has the endpoint's lock; stays where it is.
struct Persistent {
  std::uint64_t starts = 0;
  // The start, or a later one, at which a send asks for a pair; the first may be the only one.
  std::uint64_t asks_at = 2;
  std::uint64_t backoff = 2;  // starts from the end of a pair to the next that asks
  SendEnd* out = nullptr;     // of a send that is paired, or would be
  ReceiveEnd* in = nullptr;   // of a receive that is paired
};

// The first line of an entry of the ring; further payload lies right behind.
struct alignas(kLine) Put {
  static constexpr std::size_t kPayload = kLine - 16;  // bytes in the first line

  std::atomic<std::uint64_t> flag{0};  // number of the put, from 1; by the sender, release
  std::uint32_t order = 0;             // see older()
  std::uint16_t bytes = 0;             // of an eager payload
  Kind kind = Kind::eager;
  alignas(8) std::byte first[kPayload];

  std::byte* payload() { return reinterpret_cast<std::byte*>(this) + (kLine - kPayload); }
};
static_assert(sizeof(Put) == kLine && offsetof(Put, first) == kLine - Put::kPayload);
static_assert(sizeof(Rts) <= Put::kPayload);

inline constexpr std::uint64_t kRingEntries = 8;

// Kept by the receiver's endpoint.
struct ReceiveEnd {
  // The entry of put k.
  Put& entry(std::uint64_t k) const { return *reinterpret_cast<Put*>(ring[k % kRingEntries * lines].bytes); }
  // The next put, if it is here.
  Put* next_put() const { return put_at(taken + 1); }
  Put* put_at(std::uint64_t k) const {
    Put& put = entry(k);
    return put.flag.load(std::memory_order_acquire) == k ? &put : nullptr;
  }

  // Constant once the sender may find it.
  struct alignas(kLine) Line {
    std::byte bytes[kLine];
  };
  std::unique_ptr<Line[]> ring;
  std::uint64_t lines = 1;  // of an entry
  Envelope key;
  SendEnd* sender = nullptr;
  std::uint64_t generation = 0;  // of the sender's end
  const Port* sender_port = nullptr;

  // The receiver's.
  std::unique_ptr<ReceiveEnd> next;  // with a source of the same residue
  Persistent* owner = nullptr;       // nullptr: closed
  Request* request = nullptr;        // of all starts; while open
  bool started = false;              // and the program has not been told of the end
  bool waiting = false;              // likewise, and its put has not come
  bool listed = false;               // among those that wait, or have when they were polled last
  std::uint64_t taken = 0;           // puts
  std::uint64_t told = 0;            // of them, that the sender knows of
  std::uint64_t sighted = 0;         // closed: puts that were here when the inbox was polled

  alignas(kLine) std::atomic<std::uint64_t> ended{0};  // by the sender, release, once: 1 more than there are puts
};

// Kept by the sender's endpoint.
struct alignas(kLine) SendEnd {
  // Values of `state` besides the receiver's end, whose address is a multiple of a line.
  static constexpr std::uint64_t kWaiting = 1;  // with the generation above: not accepted yet
  static constexpr std::uint64_t kClosed = 2;   // with the address: the receiver takes no more
  static constexpr std::uint64_t kEnded = 4;    // by the sender
  static constexpr std::uint64_t waiting_for(std::uint64_t generation) { return generation << 3U | kWaiting; }
  static ReceiveEnd* address_in(std::uint64_t state) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<ReceiveEnd*>(state & ~std::uint64_t{kLine - 1});
  }

  // By both, acquire and release. Read in each start, and seldom written.
  std::atomic<std::uint64_t> state{kEnded};
  std::atomic<std::uint64_t> released{0};  // generation; by the receiver, release

  alignas(kLine) std::atomic<std::uint64_t> taken{0};  // puts; by the receiver, release

  // The sender's.
  alignas(kLine) SendEnd* next = nullptr;
  Port* to = nullptr;
  Persistent* owner = nullptr;
  ReceiveEnd* receiver = nullptr;  // once it is found to have accepted
  Envelope key;                    // of its messages, as the receiver sees it
  std::uint64_t generation = 0;
  std::uint64_t put = 0;   // puts
  std::uint64_t seen = 0;  // of them taken, as far as is known
};
static_assert(alignof(ReceiveEnd) == kLine);

}  // namespace urakata::p2p
