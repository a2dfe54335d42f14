#include "schedule/checker_values.hpp"

#include <algorithm>

namespace urakata::schedule {

Value Terms::of(std::vector<Origin> origins) {
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
  const auto [found, fresh] = numbers_.try_emplace(std::move(shape), static_cast<Term>(terms_.size()));
  if (fresh) terms_.push_back(std::move(origins));
  return {found->second, base};
}

Value Terms::combine(Value left, Value right) {
  const auto [found, fresh] = combined_.try_emplace({left.term, right.term, right.base - left.base});
  if (fresh) {
    std::vector<Origin> origins = terms_[left.term];
    for (Origin origin : terms_[right.term]) {
      origin.offset += right.base - left.base;
      origins.push_back(origin);
    }
    found->second = of(std::move(origins));
  }
  return {found->second.term, left.base + found->second.base};
}

std::string Terms::describe(Value value) const {
  const auto& origins = terms_[value.term];
  if (origins.size() == 1) {
    return "byte " + std::to_string(value.base + origins[0].offset) + " of buffer " +
           std::to_string(origins[0].buffer) + " of rank " + std::to_string(origins[0].rank);
  }
  std::string text = "contributions of ranks";
  constexpr std::size_t kShown = 16;
  for (std::size_t i = 0; i < std::min(kShown, origins.size()); ++i) text += " " + std::to_string(origins[i].rank);
  if (origins.size() > kShown) text += " ... (" + std::to_string(origins.size()) + ")";
  return text + ", the first from byte " + std::to_string(value.base + origins[0].offset);
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
    const Value first{zero.term, zero.base + begin};
    const auto bytes = static_cast<std::uint64_t>(until - begin);
    const bool goes_on = !runs.empty() && runs.back().first.term == first.term &&
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
    pieces_[begin] = {stop, {run.first.term, run.first.base - begin}};
    begin = stop;
  }
}

}  // namespace urakata::schedule
