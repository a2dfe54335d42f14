// SPDX-License-Identifier: BSD-3-Clause
#include "layout/cursor.hpp"

#include <algorithm>

namespace urakata::layout {

namespace {

std::uint64_t position_of(std::uint64_t position) { return position; }
std::uint64_t position_of(const Child& child) { return child.position; }

// The last entry whose position is not beyond the given one. The list's last entry is its end.
template <class Entry>
std::size_t entry_at(std::span<const Entry> list, std::uint64_t position) {
  const auto after =
      std::upper_bound(list.begin(), list.end() - 1, position,
                       [](std::uint64_t value, const Entry& entry) { return value < position_of(entry); });
  return static_cast<std::size_t>(after - list.begin()) - 1;
}

std::size_t child_near(std::span<const Child> list, std::uint64_t position, std::size_t& hint) {
  const auto holds = [&](std::size_t i) {
    return i + 1 < list.size() && list[i].position <= position && position < list[i + 1].position;
  };
  if (holds(hint)) return hint;
  if (holds(hint + 1)) return ++hint;
  return hint = entry_at(list, position);
}

// No more than `limit` bytes of a run, and no less than one.
void cut(Run& run, std::uint64_t limit) {
  const std::uint64_t row = run.row_bytes();
  if (limit >= row) {
    run.rows = std::min(run.rows, limit / row);
    return;
  }
  run.rows = 1;
  if (run.block != 0) {
    run.columns = limit / run.block;
  } else {
    const std::span positions(run.positions, run.columns + 1);
    run.columns = entry_at(positions, positions[0] + limit);
  }
  if (run.columns == 0) {  // the beginning of the first block
    if (run.offsets != nullptr) run.offset += run.offsets[0];
    run.offsets = nullptr;
    run.block = limit;
    run.columns = 1;
  }
}

}  // namespace

Cursor::Cursor(const Shape& shape, std::uint64_t count) : shape_(&shape), size_(shape.size() * count) {
  if (size_ == 0) return;
  const Node& root = shape.nodes().back();
  const auto inner = shape.dimensions(root);
  block_ = root.pieces == 0 ? root.block : 0;
  const Dimension elements{count, shape.extent(), root.size};
  auto out = dimensions_.begin();
  if (inner.empty() && block_ != 0 && (count == 1 || elements.stride == static_cast<std::int64_t>(block_))) {
    block_ *= count;
  } else if (!inner.empty() &&
             (count == 1 || elements.stride == static_cast<std::int64_t>(inner[0].count) * inner[0].stride)) {
    out = std::copy(inner.begin(), inner.end(), out);
    dimensions_[0].count *= count;
  } else {
    if (count > 1) *out++ = elements;
    out = std::copy(inner.begin(), inner.end(), out);
  }
  dimension_count_ = static_cast<std::size_t>(out - dimensions_.begin());
}

Run Cursor::run(std::uint64_t position, std::uint64_t limit) {
  const Node* node = &shape_->nodes().back();
  std::span<const Dimension> dimensions(dimensions_.data(), dimension_count_);
  std::uint64_t block = block_;
  Place at{shape_->start(), position};
  for (std::size_t depth = 0; node->children != 0; ++depth) {
    for (const Dimension& dimension : dimensions) {
      const std::uint64_t index = at.position / dimension.size;
      at.offset += static_cast<std::int64_t>(index) * dimension.stride;
      at.position -= index * dimension.size;
    }
    const auto children = shape_->children(*node);
    const std::size_t which =
        depth < kHints ? child_near(children, at.position, hints_[depth]) : entry_at(children, at.position);
    at.offset += children[which].offset;
    at.position -= children[which].position;
    node = &shape_->nodes()[children[which].node];
    dimensions = shape_->dimensions(*node);
    block = node->pieces == 0 ? node->block : 0;
  }
  Run run = node->pieces == 0 ? run_of_blocks(block, dimensions, at) : run_of_pieces(*node, dimensions, at);
  if (run.bytes() > limit) cut(run, limit);
  return run;
}

Run Cursor::run_of_blocks(std::uint64_t block, std::span<const Dimension> dimensions, Place at) const {
  Run run;
  run.block = block;
  for (; dimensions.size() > 2; dimensions = dimensions.subspan(1)) {
    const std::uint64_t index = at.position / dimensions[0].size;
    at.offset += static_cast<std::int64_t>(index) * dimensions[0].stride;
    at.position -= index * dimensions[0].size;
  }
  if (dimensions.size() == 2) {
    const Dimension& outer = dimensions[0];
    const std::uint64_t index = at.position / outer.size;
    at.offset += static_cast<std::int64_t>(index) * outer.stride;
    at.position -= index * outer.size;
    run.rows = outer.count - index;
    run.row_stride = outer.stride;
  }
  if (!dimensions.empty()) {
    const Dimension& inner = dimensions.back();
    const std::uint64_t index = at.position / block;
    at.offset += static_cast<std::int64_t>(index) * inner.stride;
    at.position -= index * block;
    run.columns = inner.count - index;
    run.stride = inner.stride;
    if (index != 0) run.rows = 1;
  }
  run.offset = at.offset;
  if (at.position != 0) {  // the rest of a block
    run.offset += static_cast<std::int64_t>(at.position);
    run.block -= at.position;
    run.columns = run.rows = 1;
  }
  return run;
}

Run Cursor::run_of_pieces(const Node& node, std::span<const Dimension> dimensions, Place at) {
  Run run;
  run.block = node.block;
  for (const Dimension& dimension : dimensions) {
    const std::uint64_t index = at.position / dimension.size;
    at.offset += static_cast<std::int64_t>(index) * dimension.stride;
    at.position -= index * dimension.size;
    run.rows = dimension.count - index;  // those of the last dimension are the rows
    run.row_stride = dimension.stride;
  }
  run.offset = at.offset;
  const auto offsets = shape_->offsets(node);
  std::size_t which = 0;
  std::uint64_t within = 0;
  std::uint64_t length = node.block;
  if (node.block != 0) {
    which = at.position / node.block;
    within = at.position % node.block;
  } else {
    const auto positions = shape_->positions(node);
    if (at.position != 0) which = entry_at(positions, at.position);
    within = at.position - positions[which];
    length = positions[which + 1] - positions[which];
    run.positions = &positions[which];
  }
  if (within != 0) {  // the rest of a piece
    run.offset += offsets[which] + static_cast<std::int64_t>(within);
    run.block = length - within;
    run.columns = run.rows = 1;
    return run;
  }
  run.offsets = &offsets[which];
  run.columns = node.pieces - which;
  if (which != 0) run.rows = 1;
  return run;
}

}  // namespace urakata::layout
