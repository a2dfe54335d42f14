// SPDX-License-Identifier: BSD-3-Clause
#include "layout/moving.hpp"

#include <algorithm>

#include "layout/copy_kernel_table.hpp"
#include "layout/cursor.hpp"

namespace urakata::layout {

void pack(const Source& from, std::uint64_t position, std::span<std::byte> packed) {
  const KernelTable& kernel = kernels();
  Cursor cursor(from.shape, from.count);
  while (!packed.empty()) {
    const Run run = cursor.run(position, packed.size());
    const std::uint64_t bytes = run.bytes();
    kernel.gather(packed.data(), from.base, run);
    packed = packed.subspan(bytes);
    position += bytes;
  }
}

void unpack(std::span<const std::byte> packed, const Target& to, std::uint64_t position) {
  const KernelTable& kernel = kernels();
  Cursor cursor(to.shape, to.count);
  while (!packed.empty()) {
    const Run run = cursor.run(position, packed.size());
    const std::uint64_t bytes = run.bytes();
    kernel.scatter(to.base, packed.data(), run);
    packed = packed.subspan(bytes);
    position += bytes;
  }
}

namespace {

// A row of blocks of one length, part of a run.
struct Row {
  std::int64_t offset;
  std::uint64_t block;
  std::uint64_t columns;
  std::int64_t stride;

  void skip_blocks(std::uint64_t count) {
    offset += static_cast<std::int64_t>(count) * stride;
    columns -= count;
  }
};

// The rows of a shape's payload, one after the other, each as long as the cursor finds it.
class Rows {
 public:
  Rows(const Shape& shape, std::uint64_t count, std::uint64_t position, std::uint64_t bytes)
      : cursor_(shape, count), position_(position), left_(bytes) {}

  // The row that is being worked on; empty (no columns) at the end of the bytes.
  Row& current() {
    if (row_.columns == 0) advance();
    return row_;
  }
  // The first block of the current row is moved up to there.
  void skip_within_block(std::uint64_t bytes) {
    if (row_.columns > 1) {  // the others wait until this one is done
      after_ = {row_.offset + row_.stride, row_.block, row_.columns - 1, row_.stride};
      row_.columns = 1;
    }
    row_.offset += static_cast<std::int64_t>(bytes);
    row_.block -= bytes;
    if (row_.block == 0) row_.columns = 0;
  }

 private:
  void advance() {
    if (after_.columns != 0) {
      row_ = after_;
      after_.columns = 0;
      return;
    }
    if (columns_done_ == run_.columns) {
      columns_done_ = 0;
      run_.offset += run_.row_stride;
      --run_.rows;
    }
    if (run_.rows == 0) {
      if (left_ == 0) return;
      run_ = cursor_.run(position_, left_);
      position_ += run_.bytes();
      left_ -= run_.bytes();
    }
    if (run_.offsets == nullptr) {
      row_ = {run_.offset, run_.block, run_.columns, run_.stride};
      columns_done_ = run_.columns;
    } else {
      const std::uint64_t piece = columns_done_++;
      const std::uint64_t length = run_.block != 0 ? run_.block : run_.positions[piece + 1] - run_.positions[piece];
      row_ = {run_.offset + run_.offsets[piece], length, 1, 0};
    }
  }

  Cursor cursor_;
  std::uint64_t position_;
  std::uint64_t left_;
  Run run_{.columns = 0, .rows = 1};
  std::uint64_t columns_done_ = 0;
  Row row_{};
  Row after_{};
};

}  // namespace

void copy(const Source& from, std::uint64_t from_position, const Target& to, std::uint64_t to_position,
          std::uint64_t bytes) {
  if (to.shape.contiguous()) return pack(from, from_position, {to.base + to_position, bytes});
  if (from.shape.contiguous()) return unpack({from.base + from_position, bytes}, to, to_position);
  const KernelTable& kernel = kernels();
  Rows sources(from.shape, from.count, from_position, bytes);
  Rows targets(to.shape, to.count, to_position, bytes);
  for (;;) {
    Row& source = sources.current();
    Row& target = targets.current();
    if (source.columns == 0 || target.columns == 0) return;
    if (source.block == target.block) {  // and not 0, where there are columns
      const std::uint64_t count = std::min(source.columns, target.columns);
      kernel.transfer(to.base + target.offset, target.stride, from.base + source.offset, source.stride, count,
                      source.block);
      source.skip_blocks(count);
      target.skip_blocks(count);
    } else if (source.block < target.block) {  // blocks gathered into a longer one
      const std::uint64_t count = std::min(source.columns, target.block / source.block);  // NOLINT
      kernel.gather(to.base + target.offset, from.base,
                    {.offset = source.offset, .block = source.block, .columns = count, .stride = source.stride});
      targets.skip_within_block(count * source.block);
      source.skip_blocks(count);
    } else {
      const std::uint64_t count = std::min(target.columns, source.block / target.block);  // NOLINT
      kernel.scatter(to.base, from.base + source.offset,
                     {.offset = target.offset, .block = target.block, .columns = count, .stride = target.stride});
      sources.skip_within_block(count * target.block);
      target.skip_blocks(count);
    }
  }
}

}  // namespace urakata::layout
