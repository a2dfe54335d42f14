// SPDX-License-Identifier: BSD-3-Clause
// Counts what the shim allocates for starting operations: see shim/user/measuring.h.
//
// Thread-safety: by any thread.
#pragma once

#include <cstdint>

namespace urakata::shim {

std::uint64_t allocations();
void count_allocation();

}  // namespace urakata::shim
