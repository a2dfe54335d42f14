// SPDX-License-Identifier: BSD-3-Clause
// Splits a 64-bit count of elements for a function that takes counts of type int.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>

namespace urakata {

// Calls use(first, count) for consecutive pieces of the range [0, elements), each as long as an int allows.
template <class Use>
void in_int_pieces(std::uint64_t elements, Use use) {
  for (std::uint64_t first = 0; first < elements;) {
    const auto count = static_cast<int>(std::min<std::uint64_t>(elements - first, INT_MAX));
    use(first, count);
    first += static_cast<std::uint64_t>(count);
  }
}

}  // namespace urakata
