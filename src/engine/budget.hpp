// SPDX-License-Identifier: BSD-3-Clause
// What one progress step may spend on computing (copying, reducing, packing), in bytes of payload.
//
// Thread-safety: by the domain's owner.
#pragma once

#include <cstdint>

namespace urakata::engine {

struct Budget {
  std::int64_t bytes = 0;
  bool caller = false;         // a thread of the program inside an MPI call: may run user-defined operations
  bool any = true;             // one piece may be longer than what is left; false once one was worked on
  std::uint64_t messages = 0;  // posted in this step; they cost nothing of the budget

  bool allows(std::uint64_t piece) const { return any || static_cast<std::int64_t>(piece) <= bytes; }
  bool spent() const { return !any && bytes <= 0; }
  void spend(std::uint64_t piece) {
    bytes -= static_cast<std::int64_t>(piece);
    any = false;
  }
};

}  // namespace urakata::engine
