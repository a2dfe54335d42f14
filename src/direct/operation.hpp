// SPDX-License-Identifier: BSD-3-Clause
// One rank's part in one non-blocking collective: its description, and how far it is (operations.hpp).
//
// Thread-safety: the rank describes an operation, starts it, and may read finished() from any thread. Nothing else may
// be touched until finished() is true.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "direct/operation_block.hpp"
#include "reduce/reducer.hpp"

namespace urakata::direct {

class Operation {
 public:
  enum class Shape : std::uint8_t {
    barrier,
    moves,  // the rank takes what `targets` say of other ranks' payloads
    allreduce,
    reduce,
    reduce_scatter,
    scan,
    exscan,
    failure  // the rank takes no part: fails on all ranks that need its payload
  };
  // One bit for each rank.
  using Ranks = std::uint64_t;
  static constexpr Ranks kNobody = 0;

  Operation() = default;
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  bool finished() const { return finished_.load(std::memory_order_acquire); }
  // Of a finished operation.
  Outcome outcome() const { return outcome_; }
  std::uint64_t sequence() const { return sequence_; }

  // The description.
  Shape shape = Shape::barrier;
  std::uint32_t root = 0;  // reduce
  // What this rank contributes: bytes, or, if there are parts, one for each rank. Both stay as they are until the
  // operation is finished, and no result is written over them, unless the operation is a long allreduce, reduce or scan
  // in place.
  std::span<const std::byte> payload;
  std::vector<Slot::Part> parts;
  Ranks readers = kNobody;      // moves: the other ranks that take from the payload
  std::uint32_t first = 0;      // moves: the rank of the first target
  std::vector<Target> targets;  // moves: for consecutive ranks; one without `range.of` takes nothing
  bool scattered = false;       // moves: the payloads do not go to `to` as they are, but to put()
  // Reductions of contiguous elements, each of Operations::kElement bytes at most.
  std::byte* out = nullptr;
  Range result;                              // reduce_scatter: the range of the payload that this rank gets reduced
  const reduce::Reducer* reducer = nullptr;  // callers_only: only the rank itself reduces
  bool callers_only = false;                 // whether only threads of the program may make progress of it
  std::vector<std::byte> packed;             // room for a payload that must be packed or copied aside

 protected:
  // Puts the range that target `index` describes in its place. By the rank itself.
  virtual void put(std::size_t /*index*/, std::span<const std::byte> /*range*/) {}

 private:
  friend class Operations;

  Operation* next_ = nullptr;  // in the list of the communicator's operations
  std::uint64_t sequence_ = 0;
  bool posted_ = false;
  bool divided_ = false;     // whether the work of all ranks is a reduction in items
  bool computed_ = false;    // whether this rank's own work is done
  Ranks absent_ = kNobody;   // ranks that must post before this rank can go on
  Ranks pending_ = kNobody;  // moves that are not shared: ranks whose payload is to be taken
  Ranks unread_ = kNobody;   // ranks that may read this rank's payload, or whose work this rank waits for
  Outcome outcome_ = Outcome::good;
  std::atomic<bool> finished_{true};
};

}  // namespace urakata::direct
