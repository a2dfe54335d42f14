// An inbox: the ring of cells through which all messages to one rank arrive. Its size does not depend on the number of
// peers.
//
// Producers claim consecutive cells by moving `tail_`, fill them in any order among themselves, and store the stamp of
// the first cell last. The consumer takes messages in the order in which their cells were claimed; a message that is
// claimed and not yet filled holds back those behind it for the few instructions that filling takes.
//
// Invariants
//   1. head_ <= next_ <= tail_ <= head_ + kCells; positions only grow, the cell of position p is cells_[p % kCells].
//   2. A cell's stamp is lap(p) of the newest position p that was filled, 0 before the first and when its message has
//      been taken. Further cells get a stamp as well, so that no payload is ever taken for one. A lap is never 0, and
//      differs from the one before and the one after; it comes again after 2^31 laps.
//   3. The consumer writes each cell that it has taken. A line that it had only read would still be in the producer's
//      cache, where asking for it again does nothing, and each message would wait for its line to be written: with the
//      consumer's store, a stream of one-cell messages takes a half (cores near each other) to a fifth of the time.
//      Not at once: an answer begins with a locked instruction, which waits for that store, and so for the line. The
//      cells from head_ to next_ are taken and still to be written: when there is nothing else to do, or they are many.
//   4. seen_head_ <= head_: a copy that spares producers the consumer's line until the ring looks full.
//
// Thread-safety: claim, fill by any thread of the address space; pop, give_back by one consumer at a time; peek and
// owes by any thread, whose answer may be out of date.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "p2p/cell.hpp"

namespace urakata::p2p {

class Inbox {
 public:
  static constexpr std::uint32_t kCells = 256;

  Inbox() = default;
  // As it is when `position` cells have been filled and taken. For tests.
  explicit Inbox(std::uint64_t position) : tail_(position), seen_head_(position), head_(position), next_(position) {}

  // Reserves `cells` consecutive cells. False: there is no room now; nothing was done.
  bool claim(std::uint32_t cells, std::uint64_t* position) {
    std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    do {
      // Acquire: what the consumer has read of the cells is read before they are filled again.
      if (!fits(tail + cells, seen_head_.load(std::memory_order_acquire))) {
        const std::uint64_t head = head_.load(std::memory_order_acquire);
        if (!fits(tail + cells, head)) return false;
        seen_head_.store(head, std::memory_order_release);
      }
    } while (!tail_.compare_exchange_weak(tail, tail + cells, std::memory_order_relaxed));
    *position = tail;
    return true;
  }

  Cell& cell(std::uint64_t position) { return cells_[position % kCells]; }
  static std::uint32_t lap(std::uint64_t position) {
    return static_cast<std::uint32_t>(position / kCells) | std::uint32_t{1} << 31U;
  }

  // The first cell of the oldest message, or nullptr.
  const Cell* peek() const {
    const Cell& next = cells_[this->next() % kCells];
    return next.stamp.load(std::memory_order_acquire) == lap(this->next()) ? &next : nullptr;
  }
  std::uint64_t next() const { return next_.load(std::memory_order_relaxed); }  // position of the oldest message
  void pop(std::uint32_t cells) {
    const std::uint64_t after = next() + cells;
    next_.store(after, std::memory_order_relaxed);
    if (after - head_.load(std::memory_order_relaxed) >= kMostTaken) give_back();
  }

  // Are there cells that are taken and not given back to the producers?
  bool owes() const { return head_.load(std::memory_order_relaxed) != next(); }
  void give_back() {
    const std::uint64_t after = next();
    for (std::uint64_t p = head_.load(std::memory_order_relaxed); p != after; ++p) {
      cell(p).stamp.store(0, std::memory_order_relaxed);
    }
    head_.store(after, std::memory_order_release);
  }

 private:
  // Signed: a tail that is out of date may lie before the head; the exchange fails then.
  static bool fits(std::uint64_t end, std::uint64_t head) { return static_cast<std::int64_t>(end - head) <= kCells; }

  static constexpr std::uint64_t kMostTaken = 16;  // cells not given back; a few of all

  // Written by producers, on a line of theirs. tail_, relaxed: it only says whose cells are whose, and a cell's stamp
  // tells when it may be read. seen_head_, acquire and release, hands on what head_ says.
  alignas(kLine) std::atomic<std::uint64_t> tail_{0};
  std::atomic<std::uint64_t> seen_head_{0};
  // Written by the consumer, on a line of its own. head_, release, for producers, who acquire it before they fill a
  // cell again. next_, relaxed: others only guess by it.
  alignas(kLine) std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint64_t> next_{0};
  // Each by whoever has claimed it until its stamp is stored (release), then by the consumer (acquire) until head_ has
  // passed it.
  alignas(kLine) std::array<Cell, kCells> cells_;
};

}  // namespace urakata::p2p
