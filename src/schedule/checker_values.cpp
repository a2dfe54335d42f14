// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/checker_values.hpp"

#include <algorithm>

namespace urakata::schedule {

Contributions Terms::contributions(std::vector<Origin> origins) {
  const auto key = [](const Origin& o) { return std::tuple(o.rank, o.buffer, o.offset); };
  if (commutative_) {
    std::sort(origins.begin(), origins.end(), [&](const Origin& x, const Origin& y) { return key(x) < key(y); });
  }
  const std::int64_t base = origins.empty() ? 0 : origins.front().offset;
  std::vector<std::tuple<std::uint32_t, BufferId, std::int64_t>> shape;
  shape.reserve(origins.size());
  for (Origin& origin : origins) {
    origin.offset -= base;
    shape.push_back(key(origin));
  }
  const auto [found, fresh] = row_numbers_.try_emplace(std::move(shape), static_cast<Row>(rows_.size()));
  if (fresh) rows_.push_back(std::move(origins));
  return {found->second, base};
}

Contributions Terms::join(Contributions left, Contributions right) {
  const auto [found, fresh] = joined_.try_emplace({left.row, right.row, right.base - left.base});
  if (fresh) {
    std::vector<Origin> origins = rows_[left.row];
    for (Origin origin : rows_[right.row]) {
      origin.offset += right.base - left.base;
      origins.push_back(origin);
    }
    found->second = contributions(std::move(origins));
  }
  return {found->second.row, left.base + found->second.base};
}

Value Terms::of(Origin origin) {
  const Contributions one = contributions({origin});
  const auto [found, fresh] = leaves_.try_emplace(one.row, static_cast<Expression>(expressions_.size()));
  if (fresh) expressions_.push_back({.row = one.row});
  return {found->second, one.base};
}

Value Terms::combine(Value left, Value right) {
  const auto [found, fresh] = combined_.try_emplace({left.expression, right.expression, right.base - left.base});
  if (fresh) {
    const Contributions both = join(contributions(left), contributions(right));
    found->second = {static_cast<Expression>(expressions_.size()), both.base - left.base};
    expressions_.push_back({.row = both.row, .left = left.expression, .right = right.expression});
  }
  return {found->second.expression, left.base + found->second.base};
}

std::string Terms::describe(Contributions contributions) const {
  const auto& origins = rows_[contributions.row];
  if (origins.size() == 1) {
    return "byte " + std::to_string(contributions.base + origins[0].offset) + " of buffer " +
           std::to_string(origins[0].buffer) + " of rank " + std::to_string(origins[0].rank);
  }
  std::string text = "contributions of ranks";
  constexpr std::size_t kShown = 16;
  for (std::size_t i = 0; i < std::min(kShown, origins.size()); ++i) text += " " + std::to_string(origins[i].rank);
  if (origins.size() > kShown) text += " ... (" + std::to_string(origins.size()) + ")";
  return text + ", the first from byte " + std::to_string(contributions.base + origins[0].offset);
}

std::string Terms::describe(Expression expression) const {
  std::string text;
  write(expression, text);
  return text;
}

void Terms::write(Expression expression, std::string& text) const {
  constexpr std::size_t kShown = 80;
  const Node& node = expressions_[expression];
  if (text.size() > kShown) {
    if (!text.ends_with("...")) text += "...";
  } else if (node.left == node.right) {
    text += std::to_string(rows_[node.row][0].rank);
  } else {
    text += "(";
    write(node.left, text);
    text += " ";
    write(node.right, text);
    text += ")";
  }
}

void Contents::split(std::int64_t at) {
  auto above = pieces_.upper_bound(at);
  if (above == pieces_.begin()) return;
  auto& [begin, piece] = *std::prev(above);
  if (begin == at || piece.end <= at) return;
  const Piece right = piece;
  piece.end = at;
  pieces_.emplace_hint(above, at, right);
}

std::vector<Run> Contents::read(std::int64_t begin, std::int64_t end) const {
  std::vector<Run> runs;
  auto it = pieces_.upper_bound(begin);
  if (it != pieces_.begin() && std::prev(it)->second.end > begin) --it;
  while (begin < end) {
    const bool inside = it != pieces_.end() && it->first <= begin;
    const std::int64_t stop = inside ? it->second.end : it == pieces_.end() ? end : it->first;
    const std::int64_t until = std::min(stop, end);
    const Value zero = inside ? it->second.zero : untouched_;
    const Value first{zero.expression, zero.base + begin};
    const auto bytes = static_cast<std::uint64_t>(until - begin);
    const bool goes_on = !runs.empty() && runs.back().first.expression == first.expression &&
                         runs.back().first.base + static_cast<std::int64_t>(runs.back().bytes) == first.base;
    if (goes_on) {
      runs.back().bytes += bytes;
    } else {
      runs.push_back({bytes, first});
    }
    if (inside && until == it->second.end) ++it;
    begin = until;
  }
  return runs;
}

void Contents::write(std::int64_t begin, const std::vector<Run>& runs) {
  std::int64_t end = begin;
  for (const Run& run : runs) end += static_cast<std::int64_t>(run.bytes);
  split(begin);
  split(end);
  pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
  for (const Run& run : runs) {
    const std::int64_t stop = begin + static_cast<std::int64_t>(run.bytes);
    pieces_[begin] = {stop, {run.first.expression, run.first.base - begin}};
    begin = stop;
  }
}

}  // namespace urakata::schedule
