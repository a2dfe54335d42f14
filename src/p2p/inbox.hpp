// SPDX-License-Identifier: BSD-3-Clause
// An inbox: the ring of slots through which all messages to one rank arrive. Its size does not depend on the number of
// peers.
//
// Producers claim consecutive slots by moving `tail_`, fill them in any order among themselves, and store the stamp of
// the first slot last. The consumer takes messages in the order in which their slots were claimed; a message that is
// claimed and not yet filled holds back those behind it for the few instructions that filling takes.
//
// Invariants
//   1. head_ <= next_ <= tail_ <= head_ + kSlots; positions only grow, the slot of position p is slots_[p % kSlots].
//   2. A slot's stamp is sequence(p) of the newest position p that was filled, 0 before the first and when its message
//      has been taken. Further slots get a stamp as well, so that no payload is ever taken for one. A sequence is never
//      0, and differs from the one before and the one after; it comes again after 2^31 sequences.
//   3. The consumer writes each slot that it has taken. A line that it had only read would still be in the producer's
//      cache, where asking for it again does nothing, and each message would wait for its line to be written: with the
//      consumer's store, a stream of one-slot messages takes a half (cores near each other) to a fifth of the time.
//      Not at once: an answer begins with a locked instruction, which waits for that store, and so for the line. The
//      slots from head_ to next_ are taken and still to be written: when there is nothing else to do, or they are many.
//   4. seen_head_ <= head_: a copy that spares producers the consumer's line until the ring looks full.
//
// Thread-safety: claim() and tail() by any thread of the address space, which then writes only the slots that it has
// claimed; pop() and give_back() by one consumer at a time; peek(), next() and owes() by any thread of the rank, whose
// answer may be out of date.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "p2p/slot.hpp"

namespace urakata::p2p {

class Inbox {
 public:
  static constexpr std::uint32_t kSlots = 256;

  Inbox() = default;
  // For tests: an inbox through which `position` slots have passed.
  explicit Inbox(std::uint64_t position) : tail_(position), seen_head_(position), head_(position), next_(position) {}

  // Reserves `slots` consecutive slots. False: there is no room now; nothing was done.
  bool claim(std::uint32_t slots, std::uint64_t* position) {
    std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    do {
      // Acquire: what the consumer has read of the slots is read before they are filled again.
      if (!fits(tail + slots, seen_head_.load(std::memory_order_acquire))) {
        const std::uint64_t head = head_.load(std::memory_order_acquire);
        if (!fits(tail + slots, head)) return false;
        seen_head_.store(head, std::memory_order_release);
      }
    } while (!tail_.compare_exchange_weak(tail, tail + slots, std::memory_order_relaxed));
    *position = tail;
    return true;
  }

  Slot& slot(std::uint64_t position) { return slots_[position % kSlots]; }
  static std::uint32_t sequence(std::uint64_t position) {
    return static_cast<std::uint32_t>(position / kSlots) | std::uint32_t{1} << 31U;
  }

  // The first slot of the oldest message, or nullptr.
  const Slot* peek() const {
    const Slot& next = slots_[this->next() % kSlots];
    return next.stamp.load(std::memory_order_acquire) == sequence(this->next()) ? &next : nullptr;
  }
  std::uint64_t next() const { return next_.load(std::memory_order_relaxed); }  // position of the oldest message
  void pop(std::uint32_t slots) {
    const std::uint64_t after = next() + slots;
    next_.store(after, std::memory_order_relaxed);
    if (after - head_.load(std::memory_order_relaxed) >= kMostTaken) give_back();
  }

  std::uint64_t tail() const { return tail_.load(std::memory_order_relaxed); }  // behind all that are claimed

  // Whether slots are taken and not yet given back to the producers.
  bool owes() const { return head_.load(std::memory_order_relaxed) != next(); }
  void give_back() {
    const std::uint64_t after = next();
    for (std::uint64_t p = head_.load(std::memory_order_relaxed); p != after; ++p) {
      slot(p).stamp.store(0, std::memory_order_relaxed);
    }
    head_.store(after, std::memory_order_release);
  }

 private:
  // Signed: a tail that is out of date may lie before the head; the exchange fails then.
  static bool fits(std::uint64_t end, std::uint64_t head) { return static_cast<std::int64_t>(end - head) <= kSlots; }

  static constexpr std::uint64_t kMostTaken = 16;  // slots not given back; a few of all

  // Written by producers, on a line of theirs. tail_, relaxed: it only says whose slots are whose, and a slot's stamp
  // tells when it may be read. seen_head_, acquire and release, hands on what head_ says.
  alignas(kLine) std::atomic<std::uint64_t> tail_{0};
  std::atomic<std::uint64_t> seen_head_{0};
  // Written by the consumer, on a line of its own. head_, release, for producers, who acquire it before they fill a
  // slot again. next_, relaxed: others only guess by it.
  alignas(kLine) std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint64_t> next_{0};
  // Each by whoever has claimed it until its stamp is stored (release), then by the consumer (acquire) until head_ has
  // passed it.
  alignas(kLine) std::array<Slot, kSlots> slots_;
};

}  // namespace urakata::p2p
