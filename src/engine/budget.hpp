// SPDX-License-Identifier: BSD-3-Clause
// What one progress step may spend on computing (copying, reducing, packing), in bytes of payload.
//
// Thread-safety: by the domain's owner.
#pragma once

#include <cstdint>

namespace urakata::engine {

struct Budget {
  std::int64_t bytes = 0;
  bool caller = false;         // whether a thread of the program runs the step, so user-defined operations may run
  bool any = true;             // whether a piece may exceed `bytes`; false once a piece was worked on
  std::uint64_t messages = 0;  // number of messages posted in this step; they use no bytes of the budget

  bool allows(std::uint64_t piece) const { return any || static_cast<std::int64_t>(piece) <= bytes; }
  bool spent() const { return !any && bytes <= 0; }
  void spend(std::uint64_t piece) {
    bytes -= static_cast<std::int64_t>(piece);
    any = false;
  }
};

}  // namespace urakata::engine
