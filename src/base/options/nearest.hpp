// SPDX-License-Identifier: BSD-3-Clause
// The name nearest to a misspelt one, for "did you mean" in warnings and errors.
#pragma once

#include <span>
#include <string_view>

namespace urakata {

// The candidate with the fewest edits (insert, delete, replace, swap of neighbours, case not counted) from `word`;
// empty where even the best needs more than a third of the word's letters (at least two are always allowed). Allocates
// nothing.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace urakata
