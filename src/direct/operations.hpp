// SPDX-License-Identifier: BSD-3-Clause
// One rank's part in the non-blocking collectives of a communicator whose ranks share a space (operation_block.hpp).
//
// A short payload is posted in a slot or a bounce buffer, and each rank takes what it needs itself. A long one stays in
// the rank's own buffer. The work that it takes is cut into items of some ten microseconds, which the ranks share: each
// rank performs its own items first, and then those of ranks that are late. Of a long reduction each rank has a share of
// the elements, which whoever performs it writes to the results of all ranks.
//
// Work that only the rank itself may perform is not shared: user-defined reductions, and results with holes.
//
// All ranks of the communicator start the same operations in the same order, with the same lengths. A rank that finds
// another length reports it and reads nothing beyond what was posted. The bits of a reduction's result are those of
// direct::Collectives.
//
// Thread-safety: start() and await() by any thread of the program, and progress functions by any thread of the process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/mutex.hpp"
#include "direct/control_segment.hpp"
#include "direct/operation.hpp"
#include "direct/waiting.hpp"
#include "p2p/port.hpp"

namespace urakata::direct {

class Operations {
 public:
  // The segment must outlive the object. `ports`: of all ranks.
  Operations(ControlSegment& segment, std::uint32_t rank, std::vector<p2p::Port*> ports, const Waiting& waiting);
  // No operation may be under way.
  ~Operations();
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return segment_.ranks(); }

  // Payloads of at most so many bytes are short: nobody waits for their readers.
  static bool is_short(std::uint64_t bytes) { return bytes <= OperationBlock::kBounceBytes; }

  // Starts an operation, which must stay until it is finished. By one thread at a time. Returns whether other ranks may
  // wait for further progress of this rank.
  bool start(Operation& operation);
  // Takes this rank's place in an operation that it cannot perform.
  void fail();
  // Returns when the operation is finished.
  void await(const Operation& operation);
  // Whether no operation is under way.
  bool idle() const { return under_way_.load(std::memory_order_acquire) == 0; }

  enum class Caller : std::uint8_t { program, progress_thread };
  // Performs what can be performed at once, or an item of each operation. Returns whether anything was.
  bool progress(Caller caller);

  // The same for all objects of the process, and whether any has an operation under way.
  static bool progress_all(Caller caller);
  static bool any_under_way();

 private:
  using Ranks = Operation::Ranks;
  static constexpr std::uint64_t kItem = 65536;      // bytes that an item moves
  static constexpr std::uint64_t kLeastItem = 4096;  // bytes of a result

  Posting& posting(std::uint32_t rank, std::uint64_t sequence) {
    return segment_.operations(rank).postings[sequence % OperationBlock::kPostings];
  }
  bool has_posted(std::uint32_t rank, std::uint64_t sequence) {
    return posting(rank, sequence).slot.sequence.load(std::memory_order_acquire) == sequence;
  }
  bool is_self(std::uint32_t rank) const { return rank == rank_; }
  Ranks everyone() const { return ~Ranks{0} >> (kMostRanks - ranks()); }
  Ranks others() const { return everyone() & ~(Ranks{1} << rank_); }
  void wake();

  bool all_retired(std::uint64_t sequence) URAKATA_REQUIRES(lock_);
  bool post(Operation& operation) URAKATA_REQUIRES(lock_);
  std::byte* bounce_for(const Operation& operation) URAKATA_REQUIRES(lock_);
  bool post_payload(const Operation& operation, Slot& slot) URAKATA_REQUIRES(lock_);
  void plan(Operation& operation, bool posted_short) URAKATA_REQUIRES(lock_);
  bool plan_moves(Operation& operation, Work& work) URAKATA_REQUIRES(lock_);
  void plan_reduction(Operation& operation, Work& work);

  bool step(Caller caller) URAKATA_REQUIRES(lock_);
  bool advance(Operation& operation, Caller caller) URAKATA_REQUIRES(lock_);
  bool note_posted(Operation& operation);
  bool advance_own(Operation& operation);
  void take_pending(Operation& operation);
  void reduce_short(Operation& operation);
  void note_computed(Operation& operation);
  bool help(Operation& operation);
  bool over(Operation& operation);
  void retire() URAKATA_REQUIRES(lock_);

  // operation_items.cpp
  struct Piece {
    std::uint32_t from = 0;  // rank
    const Target* target = nullptr;
    std::uint64_t offset = 0;  // in the target's range
    std::uint64_t bytes = 0;
  };
  static std::uint64_t items_of(const Range& range) { return (range.bytes + kItem - 1) / kItem; }
  static Piece piece_of(const Work& work, std::uint64_t item);
  std::uint64_t result_item(const Operation& operation) const;
  bool perform_item(Operation& operation, std::uint32_t of);
  Outcome move_piece(const Operation& operation, std::uint32_t of, const Piece& piece);
  Outcome payloads_of(const Operation& operation, std::span<Slot::Part> payloads, bool by_address);
  Outcome reduce_item(const Operation& operation, std::uint32_t of, std::uint64_t item);

  ControlSegment& segment_;
  const std::uint32_t rank_;
  const std::vector<p2p::Port*> ports_;
  const Waiting waiting_;

  Mutex lock_;
  std::uint64_t sequence_ URAKATA_GUARDED_BY(lock_) = 0;  // of the last start
  std::uint64_t safe_ URAKATA_GUARDED_BY(lock_) = 0;      // all ranks have retired this operation and earlier ones
  Operation* first_ URAKATA_GUARDED_BY(lock_) = nullptr;  // the operations under way, in their order
  Operation** end_ URAKATA_GUARDED_BY(lock_) = &first_;
  std::atomic<std::uint32_t> under_way_{0};

  Operation failure_;           // of fail()
  Operations* next_ = nullptr;  // in the process's list
};

}  // namespace urakata::direct
