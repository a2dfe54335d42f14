// SPDX-License-Identifier: BSD-3-Clause
#include "job/differences.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/options/written.hpp"

namespace urakata::job {

namespace {

constexpr std::size_t kMostGroups = 4;
constexpr std::size_t kMostRuns = 4;

// Ranks, ascending, that differ from rank 0 in the same names.
struct DifferingRanks {
  std::string names;
  std::vector<std::size_t> ranks;
};

std::string differing(std::span<const std::string_view> names, std::span<const std::uint64_t> own,
                      std::span<const std::uint64_t> other) {
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (own[i] != other[i]) found.push_back(names[i]);
  }
  return written::listed(found, " and ");
}

// "rank 1", "ranks 1-3, 8 and 12 more".
std::string ranks_text(std::span<const std::size_t> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  std::size_t told = 0;
  for (std::size_t runs = 0; told < ranks.size() && runs < kMostRuns; ++runs) {
    const std::size_t first = ranks[told];
    std::size_t last = first;
    for (++told; told < ranks.size() && ranks[told] == last + 1; ++told) ++last;
    if (runs > 0) text += ", ";
    text += std::to_string(first);
    if (last > first) text += '-' + std::to_string(last);
  }
  if (told < ranks.size()) text += " and " + std::to_string(ranks.size() - told) + " more";
  return text;
}

}  // namespace

std::string differences(std::span<const std::string_view> names,
                        std::span<const std::span<const std::uint64_t>> values) {
  std::vector<DifferingRanks> groups;
  for (std::size_t rank = 1; rank < values.size(); ++rank) {
    std::string in = differing(names, values[rank], values[0]);
    if (in.empty()) continue;
    auto group = std::ranges::find(groups, in, &DifferingRanks::names);
    if (group == groups.end()) group = groups.insert(group, DifferingRanks{std::move(in), {}});
    group->ranks.push_back(rank);
  }
  std::string text;
  std::size_t untold = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i >= kMostGroups) {
      untold += groups[i].ranks.size();
      continue;
    }
    if (i > 0) text += "; ";
    text += ranks_text(groups[i].ranks) + ": " + groups[i].names;
  }
  if (untold > 0) text += "; " + std::to_string(untold) + " more, each in others";
  return text;
}

}  // namespace urakata::job
