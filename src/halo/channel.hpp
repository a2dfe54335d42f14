// SPDX-License-Identifier: BSD-3-Clause
// A channel: a one-way path from one rank of a space to another. In each exchange one payload goes from the sender's
// elements to the receiver's. This file has the memory that the two ends of a channel share, and the protocol on it.
// If a rank stands in the list of neighbours several times, the payloads of these entries may share a channel
// (segments.hpp).
//
// A neighbourhood channel is all channels of one rank in one neighbourhood (neighbourhood_channel.hpp). Each rank
// numbers its exchanges 1, 2, 3... A *sequence flag* is the number k of an exchange; in a mailbox slot it is
// k << kPutKindBits | PutKind. A rank stores the flag after the data that the flag announces (release), and the other
// rank polls for it (acquire). Flags only grow.
//
//     at the receiver, written by the sender   a mailbox of two slots, two bounce buffers
//     at the sender, written by the receiver   a ready flag, if the channel is direct or one-way
//     at the sender, written by both           two shares
//
// Slots, bounce buffers and shares are double buffers: exchange k uses those with *buffer index* k mod 2. The payload
// of exchange k takes one of these ways:
//     in the slot  up to kInSlot bytes: the payload lies in the mailbox slot, beside the flag;
//     direct       the channel is direct (BounceMemory::choose()), the receiver's ready flag is k, and the payload is
//                  not a rendezvous of several pieces and not pulled: the sender copies from its elements into the
//                  receiver's;
//     bounced      the channel has a bounce buffer, and the payload cannot go direct: the sender copies into the bounce
//                  buffer. In its own exchange k the receiver copies the payload from there into its elements;
//     rendezvous   there is no bounce buffer (the payload is long, or Costs::bounce_budget is used up): the mailbox
//                  slot holds an RTS with the address of the payload. Once both ranks are in exchange k, each claims
//                  pieces and copies them until none is left. If only one of them is in MPI, it copies all;
//     pulled       a rendezvous of one piece that the receiver copies: in a symmetric relation, from Costs::pull_least
//                  bytes on, unless the blocks are short. Each rank then has one payload to copy, and the processor
//                  prefetches reads from another rank's memory, but not writes to it. If several polls of the sender
//                  have moved nothing, the receiver probably computes: if it has begun k, the sender copies.
//
// Invariants
//   1. A rank begins exchange k + 1 only when its exchange k is complete on all channels: all payloads for it have
//      arrived, and all its own payloads have left their source.
//   2. The buffers of k's index belong to the sender from its begin of k until it stores the flag k, then to the
//      receiver until the receiver has completed k. The sender may use them for k only when the receiver has completed
//      k - 2. The sender knows this from one of two facts:
//        a. in a symmetric relation (the receiver has a channel with bytes to the sender in the same neighbourhood),
//           its own k - 1 is complete: the payload of the receiver's k - 1 has come, and the receiver began k - 1
//           after it had completed k - 2;
//        b. in a one-way relation, the ready flag is at least k - 1: the receiver stored it after it had completed
//           k - 2. This is the channel's credit. Until it comes, the put is held and made by a later poll.
//      With one buffer instead of two both facts would prove too little: tests/model/halo.pml shows it.
//   3. While the receiver waits for k, the flag in the mailbox slot is k or k - 2, by 1 and 2: no flag is overtaken.
//   4. The sender writes the receiver's elements only between the ready flag k and either the flag k with
//      PutKind::direct or the last piece that it copies. The elements belong to the receiver's program before the
//      receiver begins k and after it has completed k.
//   5. The sender's elements are read until the sender's k is complete, by the sender itself or, at a rendezvous, by
//      the receiver. The receiver says when it will read no more (`by_receiver`).
//   6. Channels without bytes carry nothing: they have no flags, and prove nothing for 2a.
//   7. A rank never touches the memory of the other end after it has stored `sender_gone` or `receiver_gone` there, nor
//      the elements of the other rank after `sender_failed` or `receiver_failed`. A neighbourhood channel that has
//      failed stores the latter two at all its neighbours in the space. Each channel of its exchange then ends when the
//      payload is complete, or when the neighbour has stored its own `sender_failed` or `receiver_failed` here.
//
// Every store that the other rank may sleep for is followed by Port::wake(). Any change of this memory's layout or
// meaning needs a new p2p::Port::kProtocol: ranks of different builds do not share memory.
//
// Channels between nodes number exchanges alike, and have invariants 1 and 2 with frames for flags: far_channels.hpp.
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

inline constexpr std::uint64_t kInSlot = kLine - sizeof(std::uint64_t);  // payload bytes beside a flag

// The way of a payload: the two lowest bits of the flag in a mailbox slot.
enum class PutKind : std::uint64_t { in_slot, direct, bounced, rendezvous };
inline constexpr unsigned kPutKindBits = 2;

struct alignas(kLine) MailboxSlot {
  std::atomic<std::uint64_t> flag{0};
  std::byte payload[kInSlot];  // the payload, or for an RTS the base address of the sender's elements
};

struct alignas(kLine) ReadyFlag {
  std::atomic<std::uint64_t> flag{0};
  // Base address of the receiver's elements, valid for exchange `flag`. Relaxed: it may already be that of a later
  // exchange, but only if nothing is left to copy.
  std::atomic<std::byte*> target{nullptr};
};

// The state of a rendezvous payload that both ranks may copy. The receiver takes pieces from the front, the sender from
// the back. The sender resets it before it announces the rendezvous.
struct alignas(kLine) Share {
  // Number of attempts to claim a piece. As many of them succeed as there are pieces, the first ones. Relaxed.
  std::atomic<std::uint64_t> claimed{0};
  // Number of pieces that each rank has copied. Stored once in a rendezvous, release, when no piece is left to claim; a
  // rank that has copied none does not store.
  std::atomic<std::uint64_t> by_sender{0};
  std::atomic<std::uint64_t> by_receiver{0};
};

// Whether the two ends of a channel, or of one of its segments, fit together.
enum class Fit : std::uint8_t {
  open,            // not joined yet
  good,            // the same number of bytes at both ends
  sender_longer,   // error: the receiver would truncate the payload
  sender_shorter,  // legal for a receive, an error in neighbourhood collectives; also: divided into other segments
};

struct InChannel;

// The sender's end of a channel, in the sender's memory. Only the sender calls its functions.
struct alignas(kLine) OutChannel {
  // Starts exchange k with elements at `from`. Returns whether the payload has left; if not, call advance().
  bool begin(std::uint64_t k, const std::byte* from, Counts& counts);
  // Continues exchange k. `late`: the sender has waited for long. Returns whether the payload has left.
  bool advance(std::uint64_t k, bool late, Counts& counts);
  // Whether a late advance() would do anything.
  bool can_progress(std::uint64_t k) const;
  // Whether all pieces of a rendezvous payload have been copied.
  bool copied(std::uint64_t k) const;

  // Set by the sender before the channel is joined, constant afterwards, and read by the receiver.
  std::vector<Segment> source;
  std::uint64_t bytes = 0;  // payload bytes of all segments
  p2p::Port* sender = nullptr;
  // Set by the receiver in join(), constant after the barrier in setup (neighbourhood_channel.hpp). The sender sets the
  // size of the vectors.
  InChannel* in = nullptr;
  p2p::Port* receiver = nullptr;
  MailboxSlot* mailbox = nullptr;
  std::byte* bounce = nullptr;  // two bounce buffers, `bounce_bytes` bytes apart; nullptr: none
  std::uint64_t bounce_bytes = 0;
  std::vector<Segment> target;
  std::vector<Fit> fit;  // one for each segment
  bool one_way = false;  // whether invariant 2b holds in the place of 2a
  bool direct = false;   // whether ready flags come with the address of the receiver's elements
  bool whole = false;    // whether the payload has a bounce buffer or is one piece, so that it may go direct
  bool pulls = false;    // whether the receiver copies a rendezvous, unless the sender has waited for long
  // Used by the sender only.
  enum class Stage : std::uint8_t { held, rendezvous, shared } stage = Stage::held;
  std::uint64_t own_pieces = 0;  // number of pieces that the sender has copied of the present share
  const std::byte* base = nullptr;

  std::uint64_t piece = 0;                   // length of a piece in bytes; set by the receiver in join()
  std::atomic<bool> receiver_gone{false};    // stored once by the receiver, release
  std::atomic<bool> receiver_failed{false};  // stored once by the receiver
  ReadyFlag ready;                           // stored by the receiver
  Share shares[2];

 private:
  bool put(std::uint64_t k, Counts& counts);
  void publish(std::uint64_t k, PutKind kind);
  bool buffer_free(std::uint64_t k) const;
  void share(std::uint64_t k, Counts& counts);
};

// The receiver's end of a channel, in the receiver's memory. Only the receiver calls its functions.
struct alignas(kLine) InChannel {
  // Joins one segment with the sender's segment `number`. To be called once for each segment, in any order. The channel
  // has its segments in the sender's order.
  Fit join(const Segment& segment, OutChannel& channel, std::uint32_t number);
  // Starts exchange k with elements at `to`.
  void begin(std::uint64_t k, std::byte* to, Counts& counts);
  // Copies the payload of k into the elements if it has come. Returns whether it is in the elements.
  bool take(std::uint64_t k, Counts& counts);
  // take() after a failure: does not touch the sender's elements, and so claims no pieces.
  bool take_after_failure(std::uint64_t k, Counts& counts);
  // Whether take() would do anything.
  bool can_progress(std::uint64_t k) const;

  // Set before the channel is joined, constant afterwards.
  std::uint64_t bytes = 0;  // payload bytes of all segments
  p2p::Port* receiver = nullptr;
  std::byte* bounce = nullptr;
  std::uint64_t bounce_bytes = 0;
  bool one_way = false;
  bool direct = false;
  bool pulls = false;       // whether a rendezvous is left to the receiver
  std::uint64_t piece = 0;  // length in bytes of a piece of a rendezvous payload
  // Set by join().
  std::vector<Segment> target;  // segments in the sender's order; has its size before join()
  OutChannel* out = nullptr;
  p2p::Port* sender = nullptr;
  // Used by the receiver only.
  std::uint64_t taken = 0;       // number of the last exchange whose payload is in the elements
  bool shared = false;           // whether the present exchange is a rendezvous with no piece left to claim
  std::uint64_t own_pieces = 0;  // number of pieces that the receiver has copied of the present share
  std::byte* base = nullptr;     // base address of the elements in the present exchange

  std::atomic<bool> sender_gone{false};    // stored once by the sender, release
  std::atomic<bool> sender_failed{false};  // stored once by the sender
  MailboxSlot mailbox[2];                  // stored by the sender

 private:
  void claim_pieces(std::uint64_t k, Counts& counts);
};

}  // namespace urakata::halo
