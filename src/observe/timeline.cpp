// SPDX-License-Identifier: BSD-3-Clause
#include "observe/timeline.hpp"

#include <bit>
#include <utility>

namespace urakata::observe {

Track::Track(std::string name, std::uint32_t capacity)
    : name_(std::move(name)), mask_(std::bit_ceil(std::uint64_t{capacity}) - 1), entries_(new Entry[mask_ + 1]) {}

void Track::add(std::uint64_t begin, std::uint64_t end) {
  Entry& entry = entries_[next_.fetch_add(1, std::memory_order_relaxed) & mask_];
  entry.begin.store(begin, std::memory_order_relaxed);
  entry.end.store(end, std::memory_order_relaxed);
}

std::uint64_t Track::lost() const {
  const std::uint64_t added = next_.load(std::memory_order_relaxed);
  return added > mask_ + 1 ? added - (mask_ + 1) : 0;
}

std::vector<Span> Track::spans() const {
  const std::uint64_t added = next_.load(std::memory_order_relaxed);
  std::vector<Span> spans;
  spans.reserve(added - lost());
  for (std::uint64_t i = lost(); i < added; ++i) {
    const Entry& entry = entries_[i & mask_];
    spans.push_back(
        {.begin = entry.begin.load(std::memory_order_relaxed), .end = entry.end.load(std::memory_order_relaxed)});
  }
  return spans;
}

}  // namespace urakata::observe
