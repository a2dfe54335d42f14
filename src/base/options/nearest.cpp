// SPDX-License-Identifier: BSD-3-Clause
#include "base/options/nearest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace urakata {
namespace {

constexpr std::size_t kLongest = 47;  // longer words are compared by their beginnings

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

// Optimal string alignment distance, three rows.
std::size_t distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongest);
  b = b.substr(0, kLongest);
  std::array<std::size_t, kLongest + 1> before{}, above{}, row{};
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = above;
    above = row;
  }
  return above[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t edits = distance(word, candidate);
    if (edits < least && edits < candidate.size()) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

}  // namespace urakata
