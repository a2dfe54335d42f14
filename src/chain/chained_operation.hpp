// SPDX-License-Identifier: BSD-3-Clause
// A chained operation: one execution of a chained schedule on a channel set, with buffers bound.
//
// Records are used again, so that a start allocates nothing: `number` is a record's for ever, and its gates stay.
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
    free,       // the record is nobody's
    waiting,    // for its submission
    submitted,  // the kernel has its requests, or as many as it took
    dropped     // the channel set broke before the submission
  };

  explicit ChainedOperation(std::size_t place) : number(place) {}
  // Is there nothing left to come?
  bool over() const { return stage == Stage::dropped || (stage == Stage::submitted && unended == 0); }

  const std::size_t number;
  const ChainedSchedule* schedule = nullptr;
  void* whose = nullptr;  // of its start
  std::vector<std::byte*> buffers = {};
  std::vector<Gate> gates = {};  // between chains
  Stage stage = Stage::free;
  bool failed = false;
  std::uint64_t turn = 0;   // its place in the order of starts
  std::size_t unended = 0;  // requests that the kernel has and that have not ended; once submitted

  // Between operations. The gates are made when they are first needed.
  Gate ended;                // signalled at the end of each chain, for the operation behind this one
  Gate begun;                // of several chains behind another operation: the first signals it, the others wait
  bool signals = false;      // `ended`
  bool followed = false;     // by one that waits at `ended`
  std::uint64_t others = 0;  // chains beside the first: what `begun` is signalled by
};

}  // namespace urakata::chain
