// SPDX-License-Identifier: BSD-3-Clause
// A send or a receive that is not finished when it is started.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "layout/layout.hpp"
#include "p2p/elements.hpp"
#include "p2p/link.hpp"
#include "p2p/slot.hpp"
#include "p2p/spare.hpp"

namespace urakata::p2p {

struct Persistent;
struct SendEnd;

// Elements in memory. The memory and the layout belong to the caller and outlive the operation.
struct Buffer {
  std::byte* address = nullptr;
  std::uint64_t count = 0;
  const layout::Layout* layout = nullptr;  // nullptr: plain bytes

  std::uint64_t bytes() const { return layout != nullptr ? count * layout->size : count; }
  bool plain() const { return layout == nullptr || layout->contiguous; }
  // Whether only the layout itself can move the elements, so that only the buffer's own rank can.
  bool needs_library() const { return !plain() && layout->shape() == nullptr; }
  // Not for a buffer with needs_library().
  Elements elements() const {
    return plain() ? Elements{address, bytes(), nullptr} : Elements{address, count, layout->shape()};
  }
};

// `failed`: the peer beyond the link is lost. A send has an outcome too, which is `good` or that.
enum class Outcome : std::uint8_t { good, truncated, cancelled, failed };

// What became of a receive, or what a probe has found.
struct Result {
  std::int32_t source = kAnySource;
  std::int32_t tag = kAnyTag;
  std::uint64_t bytes = 0;  // bytes received; of a probe, bytes sent
  Outcome outcome = Outcome::good;
};

// The payload of a rendezvous by a link, as one end sees it. Times are CLOCK_MONOTONIC in ns.
struct Transfer {
  std::uint64_t met = 0;    // both sides had begun the message, as this one learnt then; 0: not yet, or there is none
  std::uint64_t over = 0;   // all has left or come; 0: not yet
  std::uint64_t bytes = 0;  // in all
  std::uint64_t moved = 0;  // of them: so far
};

// A receive of an eager message needs no more than the first two lines: many requests are open at once, and all of them
// should fit into the first cache.
struct alignas(kLine) Request {
  // The owner's.
  Request* next = nullptr;  // in the queue that the request is in
  Buffer buffer;
  Envelope envelope;        // of a send; the pattern of a receive
  std::uint32_t tests = 0;  // unsuccessful, of a movable send
  Port* to = nullptr;       // of a send that waits for room in an inbox
  bool is_send = false;
  bool whole = false;       // a send that must not be eager: synchronous, or large
  bool queued = false;      // a send that waits for room in an inbox, or is the link's
  bool posted = false;      // a receive that has not been matched
  bool abandoned = false;   // to be given back when it is finished
  bool movable = false;     // a send whose payload may be moved while it waits
  bool moved = false;       // a send that counts as done, since `packed` has its payload
  Form form = Form::plain;  // of a send

  // By the owner, and by the receiver of a rendezvous, whose last access to the request is a store to `finished`.
  alignas(kLine) std::atomic<bool> finished{false};

  // Where the payload of a movable send is: standard sends must not depend on the receiver more than under the MPI
  // library, so one that waits too long is moved into memory of its own and counts as done. The receiver takes the
  // payload, or the sender moves it, whichever comes first.
  enum class Place : std::uint8_t { buffer, taken, moved };
  std::atomic<Place> place{Place::buffer};
  bool timed = false;  // `transfer` says something. The owner's
  // A send whose payload was copied aside in an exchange, and PayloadMemory counts its bytes; nobody helps its
  // receiver. The owner's.
  bool unassisted = false;

  // The owner's.
  Result result;
  Block packed;  // payload of a send that is buffered, packed or set aside
  // Called when a request is over that was given back before its end.
  void (*release_layout)(const Request& request) = nullptr;
  void* owner = nullptr;  // for release_layout; not used by the endpoint

  // Where the payload of a send lies; constant from the RTS on. `buffer` is the program's, whose layout may be gone
  // once the payload has been packed.
  alignas(kLine) Elements source;
  // A rendezvous that both sides copy: pieces are claimed by `claimed`. Set by the receiver before the request is put
  // into Port::assist.
  Elements target;
  std::uint64_t shared_bytes = 0;
  std::atomic<std::uint64_t> claimed{0};  // pieces
  std::atomic<std::uint64_t> helped{0};   // bytes copied by the sender
  std::uint64_t piece = 0;                // bytes of one; set with shared_bytes
  std::atomic<std::uint64_t> ready{0};    // bytes packed, of Form::packing

  // Of a receive that waits for its sender's last pieces. The owner's.
  Request* partner = nullptr;  // the sender's request
  Port* partner_port = nullptr;
  std::uint64_t missing = 0;  // bytes of those pieces

  // Of a message that goes by a link. The owner's.
  LinkPeer peer{};
  Transfer transfer;  // but for `moved`, which is asked of the link

  // See pair.hpp. Used by the owner only, but constant for a send from the RTS on.
  Persistent* persistent = nullptr;  // record of a persistent receive
  SendEnd* end = nullptr;            // end of a send that asks for a pair; nullptr: it does not
  std::uint64_t generation = 0;      // generation of `end`

  // Whether the caller need not wait any more: the request is finished, or it is a `moved` send.
  bool done() const { return finished.load(std::memory_order_acquire) || moved; }
};

}  // namespace urakata::p2p
