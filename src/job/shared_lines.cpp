// SPDX-License-Identifier: BSD-3-Clause
#include "job/shared_lines.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/hash.hpp"

namespace urakata::job {

namespace {

// The line with each number replaced by one '0'.
std::string without_numbers(std::string_view line) {
  std::string rest;
  for (const char letter : line) {
    const bool digit = letter >= '0' && letter <= '9';
    if (!digit || !rest.ends_with('0')) rest += digit ? '0' : letter;
  }
  return rest;
}

}  // namespace

bool same_line(std::string_view one, std::string_view other) { return without_numbers(one) == without_numbers(other); }

SharedLines share_lines(Bootstrap& bootstrap, std::span<const std::int32_t> nodes, std::span<const std::string> own) {
  std::array<std::uint64_t, 4> keys{};  // 0: none
  const std::size_t lines = std::min(own.size(), keys.size());
  for (std::size_t line = 0; line < lines; ++line) keys[line] = hash(without_numbers(own[line])) | 1U;
  const auto all = bootstrap.gathered(keys);
  SharedLines shared;
  if (all.empty()) {
    shared.any = lines != 0;
    shared.first = bootstrap.rank();
    shared.here.assign(own.begin(), own.end());
    return shared;
  }
  const auto has = [&](std::size_t rank, std::uint64_t key) {
    return std::ranges::find(all[rank], key) != all[rank].end();
  };
  while (shared.first < all.size() && all[shared.first][0] == 0) ++shared.first;
  shared.any = shared.first < all.size();
  const std::size_t count = std::set(nodes.begin(), nodes.end()).size();
  for (std::size_t line = 0; line < lines; ++line) {
    std::set<std::int32_t> where;
    bool lowest = true;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (!has(rank, keys[line])) continue;
      lowest = lowest && rank >= bootstrap.rank();
      where.insert(nodes[rank]);
    }
    if (!lowest) continue;
    std::string text = own[line];
    if (count != 1) text += " (on " + std::to_string(where.size()) + " of " + std::to_string(count) + " nodes)";
    shared.here.push_back(std::move(text));
  }
  return shared;
}

}  // namespace urakata::job
