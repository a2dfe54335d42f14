// SPDX-License-Identifier: BSD-3-Clause
// A buffer cut into consecutive blocks of whole elements, in payload bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/plan.hpp"

namespace urakata::collectives {

class Partition {
 public:
  // `parts` blocks whose sizes differ by at most one element, the longer ones first.
  static Partition even(std::uint64_t bytes, std::uint64_t element, std::uint32_t parts) {
    Partition result;
    const std::uint64_t elements = bytes / element;
    for (std::uint32_t i = 0; i < parts; ++i) {
      result.push((elements / parts + (i < elements % parts ? 1 : 0)) * element);
    }
    return result;
  }
  static Partition equal(std::uint64_t block, std::uint32_t parts) {
    Partition result;
    for (std::uint32_t i = 0; i < parts; ++i) result.push(block);
    return result;
  }
  static Partition of(std::span<const std::uint64_t> blocks) {
    Partition result;
    for (std::uint64_t block : blocks) result.push(block);
    return result;
  }

  std::uint64_t total() const { return begin_.back(); }
  Piece block(BufferId buffer, std::uint32_t i) const { return range(buffer, i, i + 1); }
  Piece range(BufferId buffer, std::uint32_t first, std::uint32_t last) const {  // blocks first .. last - 1
    return {
        .buffer = buffer, .offset = static_cast<std::int64_t>(begin_[first]), .bytes = begin_[last] - begin_[first]};
  }
  // A partition whose block g is group g of consecutive blocks; the group ends before block ends[g].
  Partition grouped(std::span<const std::uint32_t> ends) const {
    Partition result;
    std::uint32_t from = 0;
    for (std::uint32_t end : ends) {
      result.push(begin_[end] - begin_[from]);
      from = end;
    }
    return result;
  }

 private:
  void push(std::uint64_t bytes) { begin_.push_back(begin_.back() + bytes); }

  std::vector<std::uint64_t> begin_{0};  // where each block begins, and last the end of all
};

}  // namespace urakata::collectives
