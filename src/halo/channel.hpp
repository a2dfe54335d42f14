// An edge: one directed pair of ranks of a space, from whose elements to whose the payload of each exchange goes. This
// file has the memory that its two ends share, and the protocol on it. What one rank sends to another in several
// places of a neighbourhood may go by one edge (segments.hpp).
//
// Exchanges are numbered 1, 2, 3... by each rank; a *mark* is that number, stored behind what it tells of (release) and
// polled for by the one who waits (acquire). Marks only grow, so nothing is ever reset.
//
//     at the receiver, by the sender   two put lines, two landing places
//     at the sender, by the receiver   a ready line
//     at the sender, by both           two shares
//
// Of what there are two, exchange k uses the one of its *turn*, k mod 2. With k the payload goes
//     in line     up to kInLine bytes: in the put line, beside the mark;
//     direct      the receiver's ready mark is k: from the sender's elements into the receiver's;
//     landed      it is not: into the landing place, from where the receiver copies once more when it comes;
//     rendezvous  there is no landing place (large, or beyond the budget): the put line is an RTS, which tells where it
//                 lies, and once both are in exchange k each copies the pieces that it claims: whoever comes second, or
//                 both;
//     pulled      a rendezvous of one piece, which is left to the receiver: what a rank reads from another one's memory
//                 is fetched ahead, what it writes there is not, and both have a payload to copy. A sender that has
//                 waited for long copies it: the receiver has begun k, but computes.
//
// Invariants
//   1. A rank begins k + 1 only when its k is complete: all its payloads are here, all its own have left their source.
//   2. What belongs to the turn of k is the sender's from its begin of k until the mark of k, then the receiver's until
//      that has completed k. So the sender may use it for k only when the receiver has completed k - 2. It knows that
//        a. where the relation is symmetric (the receiver has an edge to the sender in the same plan, with bytes): my
//           complete k - 1 holds the receiver's k - 1, which it began after its k - 2 was complete;
//        b. by the ready mark: k - 1 or more was stored after k - 2 was complete. This is the credit of an edge that goes
//           one way. Until it is here the put is held, and made by a later poll.
//      With one turn instead of two both would prove too little: tests/model/halo.pml shows it.
//   3. A put line's mark is k or k - 2 while its receiver waits for k, by 1 and 2: no mark is overtaken.
//   4. The receiver's elements are written by the sender from the ready mark of k on, to the mark `direct` of k or the
//      last piece of its share; the receiver's program has them before, and after the receiver has completed k.
//   5. The sender's elements are read until its k is complete: by itself, or, at a rendezvous, by the receiver, which
//      says so (`by_receiver`) when there is no more to claim.
//   6. Edges without bytes carry nothing: they have no marks, and prove nothing (2a).
//   7. Nobody touches the memory of the other end after having said `gone` there, nor its elements after `failed`. A plan
//      that has failed says so at all its ends, and ends an exchange only when those whose edges are under way have said
//      so, too.
//
// Every store that the other end may sleep for is followed by Port::wake(). A change of any byte here asks for a new
// p2p::Port::kProtocol: ranks of different builds do not share memory.
//
// Edges between nodes have the same protocol with frames for marks: far_edges.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "halo/counts.hpp"
#include "halo/segments.hpp"
#include "p2p/port.hpp"

namespace urakata::halo {

using p2p::kLine;

inline constexpr std::uint64_t kInSlot = kLine - sizeof(std::uint64_t);  // payload bytes beside a mark

// How a payload has come: the two lowest bits of a mark in a put line.
enum class PutKind : std::uint64_t { in_slot, direct, bounced, rendezvous };
inline constexpr unsigned kPutKindBits = 2;

struct alignas(kLine) MailboxSlot {
  std::atomic<std::uint64_t> flag{0};
  std::byte payload[kInSlot];  // or, of an RTS, the address that the sender's elements are counted from
};

struct alignas(kLine) ReadyFlag {
  std::atomic<std::uint64_t> flag{0};
  // What the receiver's elements are counted from. Relaxed: belongs to `mark`, or to a later one, when there is nothing
  // left to copy.
  std::atomic<std::byte*> target{nullptr};
};

// The payload of a rendezvous, that both may copy: the receiver takes pieces from the front, the sender from the back.
struct alignas(kLine) Share {
  std::atomic<std::uint64_t> claimed{0};  // relaxed: attempts; the first so many as there are pieces have one
  // How many pieces each has copied; stored once, release, when there is no more to claim.
  std::atomic<std::uint64_t> by_sender{0};
  std::atomic<std::uint64_t> by_receiver{0};
};

// Do the two ends of an edge, or of one of its segments, go together?
enum class Fit : std::uint8_t {
  open,            // not joined yet
  good,            // as many bytes at both ends
  sender_longer,   // the receiver would truncate
  sender_shorter,  // likewise an error in neighbourhood collectives
};

struct InChannel;

// The sender's end. In the sender's memory; all functions by the sender.
struct alignas(kLine) OutChannel {
  // Starts exchange k, with the elements counted from this address. True: the payload has left; else advance() goes on.
  bool begin(std::uint64_t k, const std::byte* from, Counts& counts);
  // `late`: it has waited for long.
  bool advance(std::uint64_t k, bool late, Counts& counts);
  // Would a late advance() do anything?
  bool news(std::uint64_t k) const;
  // Has the payload, of a rendezvous, been copied by whoever claimed it?
  bool copied(std::uint64_t k) const;

  // Set by the sender before the edge is joined, constant then, and read by the receiver.
  std::vector<Segment> source;
  std::uint64_t bytes = 0;  // of all segments
  p2p::Port* sender = nullptr;
  // Set by the receiver in join(), constant from the caller's barrier on. The sender gives the vectors their size.
  InChannel* in = nullptr;
  p2p::Port* receiver = nullptr;
  MailboxSlot* mailbox = nullptr;
  std::byte* bounce = nullptr;  // two places, `landing_room` bytes apart; nullptr: none
  std::uint64_t bounce_bytes = 0;
  std::vector<Segment> target;
  std::vector<Fit> fit;  // of each segment
  bool credit = false;   // the relation goes one way
  bool direct = false;   // ready marks tell of elements to put into
  bool whole = false;    // and nobody is to share in that
  bool pulled = false;   // a rendezvous is left to the receiver, while it may be there soon
  // The sender's.
  enum class Stage : std::uint8_t { held, rendezvous, shared } stage = Stage::held;
  std::uint64_t own_pieces = 0;  // of the present share
  const std::byte* base = nullptr;

  std::uint64_t piece = 0;                   // bytes of one of a share; set by the receiver in join()
  std::atomic<bool> receiver_gone{false};    // by the receiver, release, once
  std::atomic<bool> receiver_failed{false};  // likewise
  ReadyFlag ready;                           // by the receiver
  Share shares[2];

 private:
  bool put(std::uint64_t k, Counts& counts);
  void publish(std::uint64_t k, PutKind kind);
  bool buffer_free(std::uint64_t k) const;
  void share(std::uint64_t k, Counts& counts);
};

// The receiver's end. In the receiver's memory; all functions by the receiver.
struct alignas(kLine) InChannel {
  // One of its segments, with that of the sender's; once for each, in any order: they are then in the sender's order.
  Fit join(const Segment& segment, OutChannel& channel, std::uint32_t number);
  // Starts exchange k, into the elements counted from this address.
  void begin(std::uint64_t k, std::byte* to, Counts& counts);
  // Is the payload of k in the elements? Does what is needed for that, if it can be done now.
  bool take(std::uint64_t k, Counts& counts);
  // After a failure: the same, without the sender's elements.
  bool take_here(std::uint64_t k, Counts& counts);
  // Would take() do anything?
  bool news(std::uint64_t k) const;

  // Set before the edge is joined, constant then.
  std::uint64_t bytes = 0;  // of all segments
  p2p::Port* receiver = nullptr;
  std::byte* bounce = nullptr;
  std::uint64_t bounce_bytes = 0;
  bool one_way = false;
  bool direct = false;
  bool pulls = false;       // a rendezvous is left to it
  std::uint64_t piece = 0;  // bytes of one, at a rendezvous where both copy
  // Set by join().
  std::vector<Segment> target;  // in the sender's order; has its size before
  OutChannel* out = nullptr;
  p2p::Port* sender = nullptr;
  // The receiver's.
  std::uint64_t taken = 0;  // the last exchange whose payload is here
  bool shared = false;      // the present one is a rendezvous, and there is no more to claim
  std::uint64_t own_pieces = 0;
  std::byte* base = nullptr;

  std::atomic<bool> sender_gone{false};    // by the sender, release, once
  std::atomic<bool> sender_failed{false};  // likewise
  MailboxSlot mailbox[2];                  // by the sender

 private:
  void claim_pieces(std::uint64_t k, Counts& counts);
};

}  // namespace urakata::halo
