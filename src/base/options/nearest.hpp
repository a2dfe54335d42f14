// SPDX-License-Identifier: BSD-3-Clause
// The name nearest to a misspelt one, for "did you mean" in warnings and errors.
#pragma once

#include <span>
#include <string_view>

namespace urakata {

// The candidate with the fewest edits from `word`: insertions, deletions, replacements and swaps of neighbours, without
// regard to case. Empty if every candidate needs too many: more than a third of the letters of `word` and more than
// two, or as many as the candidate has letters. Allocates nothing.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace urakata
