#include "layout/cursor.hpp"

#include <algorithm>

namespace urakata::layout {

namespace {

// The last entry whose position is not beyond the given one. The list's last entry is its end.
template <class Entry>
std::size_t entry_at(std::span<const Entry> list, std::uint64_t position) {
  const auto after = std::upper_bound(list.begin(), list.end() - 1, position,
                                      [](std::uint64_t value, const Entry& entry) { return value < entry.position; });
  return static_cast<std::size_t>(after - list.begin()) - 1;
}

template <class Entry>
std::size_t entry_near(std::span<const Entry> list, std::uint64_t position, std::size_t& hint) {
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
  if (run.pieces == nullptr) {
    run.columns = std::max<std::uint64_t>(limit / run.block, 1);
    run.block = std::min(run.block, limit);
    return;
  }
  const std::span list(run.pieces, run.columns + 1);
  const std::uint64_t end = list[0].position + limit;
  run.columns = entry_at(list, end);
  if (run.columns == 0) {
    run.offset += list[0].offset;
    run.block = limit;
    run.columns = 1;
    run.pieces = nullptr;
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
        depth < kHints ? entry_near(children, at.position, hints_[depth]) : entry_at(children, at.position);
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
  const auto pieces = shape_->pieces(node);
  const std::size_t which = at.position == 0 ? 0 : entry_at(pieces, at.position);
  const std::uint64_t within = at.position - pieces[which].position;
  if (within != 0) {  // the rest of a piece
    run.offset += pieces[which].offset + static_cast<std::int64_t>(within);
    run.block = pieces[which + 1].position - at.position;
    run.columns = run.rows = 1;
    return run;
  }
  run.pieces = &pieces[which];
  run.columns = node.pieces - which;
  if (which != 0) run.rows = 1;
  return run;
}

}  // namespace urakata::layout
