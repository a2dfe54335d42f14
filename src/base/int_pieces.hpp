// SPDX-License-Identifier: BSD-3-Clause
// Counts of elements that a function with counts of int takes in several calls.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>

namespace urakata {

// Calls use(first, count) for pieces of 0 .. `elements` in their order, each as long as an int allows.
template <class Use>
void in_int_pieces(std::uint64_t elements, Use use) {
  for (std::uint64_t first = 0; first < elements;) {
    const auto count = static_cast<int>(std::min<std::uint64_t>(elements - first, INT_MAX));
    use(first, count);
    first += static_cast<std::uint64_t>(count);
  }
}

}  // namespace urakata
