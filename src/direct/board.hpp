// SPDX-License-Identifier: BSD-3-Clause
// A board: the memory by which the ranks of one communicator, all in one space, perform blocking collectives on each
// other's buffers. It has a seat for each rank. A rank writes only its own seat, and reads all.
//
// The operations of a communicator have numbers 1, 2, 3, ... in their common order. A rank posts for operation q in
// slot q % kSlots of its seat: a short payload itself, or where its payload lies. It may overwrite a slot, or a copy,
// once every rank is done with the operation that had it before (Seat::done).
//
// The first rank of the communicator allocates the board. The last rank to leave gives the board back to that rank,
// whose allocator must free it: reclaim().
//
// Thread-safety: as its members say. A rank's seat is written by one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace urakata::direct {

inline constexpr std::size_t kLine = 64;
inline constexpr std::uint32_t kMostRanks = 64;

// Two cache lines that processors fetch together. A payload of 48 bytes touches the first only.
struct alignas(2 * kLine) Slot {
  static constexpr std::uint64_t kInline = 112;  // bytes of the longest payload that is in the slot itself

  enum class Kind : std::uint32_t {
    payload,  // the payload is in the slot
    address,  // the slot holds an Addresses
    failed    // the rank takes no part in the operation
  };
  // Where a rank's payload lies, and its result. Both stay as they are until all ranks that read them are done.
  struct Addresses {
    const std::byte* in;
    std::byte* out;
    std::uint64_t bytes;
  };

  std::atomic<std::uint64_t> stamp{0};  // the operation's number; release, after the other members
  Kind kind = Kind::payload;
  std::uint32_t bytes = 0;  // of a payload in the slot
  std::byte payload[kInline] = {};
};
static_assert(sizeof(Slot) == 2 * kLine);

struct Seat {
  static constexpr std::uint32_t kSlots = 8;
  static constexpr std::uint32_t kCopies = 4;
  static constexpr std::uint64_t kCopy = 2048;  // bytes

  std::array<Slot, kSlots> slots;
  // The last operation that the rank is done with: it reads no other rank's memory for it any more. Release.
  alignas(kLine) std::atomic<std::uint64_t> done{0};
  // The last operation whose share of the result this rank has computed. Release.
  alignas(kLine) std::atomic<std::uint64_t> computed{0};
  // Copies of the rank's payloads that are too long for a slot, and so short that nobody should wait for their readers.
  // That of operation q is number q % kCopies.
  alignas(kLine) std::byte copies[kCopies][kCopy];
};

class Board {
 public:
  // nullptr: there is no memory. `ranks` is at most kMostRanks. Called by the rank that owns the board.
  static Board* make(std::uint32_t ranks);
  // Each rank of the communicator calls this once, when it is done with its last operation. The board must not be used
  // after.
  void leave();
  // Frees the boards of this rank that all have left. By any thread of the rank.
  static void reclaim();

  std::uint32_t ranks() const { return ranks_; }
  Seat& seat(std::uint32_t rank) { return seats_[rank]; }

  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

 private:
  explicit Board(std::uint32_t ranks, std::atomic<Board*>& left) : users_(ranks), left_(left), ranks_(ranks) {}
  ~Board() = default;

  std::atomic<std::uint32_t> users_;
  std::atomic<Board*>& left_;  // the list of the owner's boards that all have left
  Board* next_ = nullptr;      // in that list
  const std::uint32_t ranks_;
  Seat* seats_ = nullptr;
};

}  // namespace urakata::direct
