// SPDX-License-Identifier: BSD-3-Clause
// A chained operation: one execution of a chained schedule on a channel set, with buffers bound.
//
// Records are reused, so that a start allocates nothing. A record keeps its number and its gates.
//
// Thread-safety: under the channel set's lock. The kernel reads `others` while the operation is in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chain/chained_schedule.hpp"
#include "chain/gate.hpp"

namespace urakata::chain {

struct ChainedOperation {
  enum class Stage : std::uint8_t {
    free,       // the record belongs to no operation
    waiting,    // the operation has not been submitted
    submitted,  // the kernel has its requests, or those of them that it took
    dropped     // the channel set broke before the submission
  };

  explicit ChainedOperation(std::size_t place) : number(place) {}
  // Whether no request of the operation is in the kernel, nor will be.
  bool over() const { return stage == Stage::dropped || (stage == Stage::submitted && unended == 0); }

  const std::size_t number;
  const ChainedSchedule* schedule = nullptr;
  void* whose = nullptr;                 // as ChannelSet::start() was given it
  std::vector<std::byte*> buffers = {};  // addresses, by BufferId
  std::vector<Gate> gates = {};          // between the operation's chains
  Stage stage = Stage::free;
  bool failed = false;
  std::uint64_t turn = 0;   // position in the order of starts
  std::size_t unended = 0;  // requests in the kernel that have not ended; valid once submitted

  // The order of operations. Both gates are made when they are first needed. `begun` is for several chains that follow
  // another operation: the first chain signals it once that operation has ended, and the others wait at it.
  Gate ended;  // signalled by each chain at its end, for the next operation
  Gate begun;
  bool signals = false;      // whether the chains signal `ended`
  bool followed = false;     // whether a submitted operation waits at `ended`
  std::uint64_t others = 0;  // number of chains beside the first: the signals that `begun` gets
};

}  // namespace urakata::chain
