// SPDX-License-Identifier: BSD-3-Clause
#include "layout/body.hpp"

#include <algorithm>

namespace urakata::layout {

namespace {

// Bodies of no more blocks than this are taken apart when they become part of a sequence, so that the blocks can join.
constexpr std::uint64_t kFew = 8;

std::uint64_t blocks_in(const Body& body) {
  std::uint64_t blocks = std::max<std::size_t>(body.pieces.size(), body.block != 0 ? 1 : 0);
  for (const Placed& part : body.sequence) blocks += blocks_in(*part.body);
  for (const auto& dimension : body.dimensions) {
    if (blocks > kFew || dimension.count > kFew) return kFew + 1;
    blocks *= dimension.count;
  }
  return blocks;
}

using Pieces = std::vector<Body::Piece>;

void take_apart(const Body& body, std::size_t dimension, std::int64_t offset, std::vector<Placed>& into) {
  if (dimension < body.dimensions.size()) {
    const auto& [count, stride] = body.dimensions[dimension];
    for (std::uint64_t i = 0; i < count; ++i) {
      take_apart(body, dimension + 1, offset + static_cast<std::int64_t>(i) * stride, into);
    }
  } else if (body.block != 0) {
    into.push_back({offset, block_of(body.block)});
  } else {
    for (const auto& piece : body.pieces) into.push_back({offset + piece.offset, block_of(piece.length)});
    for (const Placed& part : body.sequence) take_apart(*part.body, 0, offset + part.offset, into);
  }
}

bool is_block(const BodyPointer& body) { return body->block != 0 && body->dimensions.empty(); }

// The parts without empty ones, nested sequences and small bodies opened, neighbouring blocks joined.
std::vector<Placed> opened(std::vector<Placed>& parts) {
  std::vector<Placed> result;
  result.reserve(parts.size());
  std::vector<Placed> few;
  const auto append = [&result](Placed&& part) {
    if (is_block(part.body) && !result.empty() && is_block(result.back().body)) {
      Placed& last = result.back();
      if (last.offset + static_cast<std::int64_t>(last.body->block) == part.offset) {
        last.body = block_of(last.body->block + part.body->block);
        return;
      }
    }
    result.push_back(std::move(part));
  };
  for (Placed& part : parts) {
    if (part.body == nullptr) continue;
    const Body& body = *part.body;
    if (is_block(part.body)) {
      append(std::move(part));
    } else if (blocks_in(body) <= kFew) {
      few.clear();
      take_apart(body, 0, part.offset, few);
      for (Placed& block : few) append(std::move(block));
    } else if (body.dimensions.empty() && !body.sequence.empty()) {
      for (const Placed& inner : body.sequence) append({part.offset + inner.offset, inner.body});
    } else {
      append(std::move(part));
    }
  }
  return result;
}

// Consecutive blocks as one list of pieces each; other bodies as they are.
std::vector<Placed> listed(std::vector<Placed>& parts) {
  std::vector<Placed> result;
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t end = i;
    while (end < parts.size() && is_block(parts[end].body)) ++end;
    if (end - i < 2) {
      result.push_back(std::move(parts[i++]));
      continue;
    }
    Body list;
    list.pieces.reserve(end - i);
    const std::int64_t origin = parts[i].offset;
    for (; i < end; ++i) {
      list.pieces.push_back({parts[i].offset - origin, parts[i].body->block});
      list.size += parts[i].body->block;
    }
    result.push_back({origin, std::make_shared<const Body>(std::move(list))});
  }
  return result;
}

// Whether the parts are equal bodies at even distances.
bool is_dimension(const std::vector<Placed>& parts) {
  if (parts.size() < 2) return false;
  const std::int64_t stride = parts[1].offset - parts[0].offset;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].offset - parts[i - 1].offset != stride || !equal(parts[i].body, parts[0].body)) return false;
  }
  return true;
}

}  // namespace

BodyPointer block_of(std::uint64_t bytes) {
  if (bytes == 0) return nullptr;
  auto body = std::make_shared<Body>();
  body->size = body->block = bytes;
  return body;
}

BodyPointer repeated(const BodyPointer& body, std::uint64_t count, std::int64_t stride) {
  if (body == nullptr || count == 0) return nullptr;
  if (count == 1) return body;
  if (is_block(body) && stride == static_cast<std::int64_t>(body->block)) return block_of(body->block * count);
  auto result = std::make_shared<Body>();
  auto& dimensions = result->dimensions;
  if (body->dimensions.size() == kDimensions) {
    result->sequence.push_back({0, body});
    dimensions = {{count, stride}};
  } else {
    *result = *body;
    if (!dimensions.empty() && stride == static_cast<std::int64_t>(dimensions[0].count) * dimensions[0].stride) {
      dimensions[0].count *= count;
    } else {
      dimensions.insert(dimensions.begin(), {count, stride});
    }
  }
  result->size = body->size * count;
  return result;
}

Placed sequence_of(std::vector<Placed> parts) {
  parts = opened(parts);
  if (parts.empty()) return {};
  if (is_dimension(parts)) {
    return {parts[0].offset, repeated(parts[0].body, parts.size(), parts[1].offset - parts[0].offset)};
  }
  parts = listed(parts);
  if (parts.size() == 1) return parts[0];
  Body result;
  const std::int64_t origin = parts[0].offset;
  for (Placed& part : parts) {
    part.offset -= origin;
    result.size += part.body->size;
  }
  result.sequence = std::move(parts);
  return {origin, std::make_shared<const Body>(std::move(result))};
}

bool equal(const BodyPointer& a, const BodyPointer& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->size != b->size || a->block != b->block || a->dimensions != b->dimensions ||
      a->pieces != b->pieces) {
    return false;
  }
  return std::equal(a->sequence.begin(), a->sequence.end(), b->sequence.begin(), b->sequence.end(),
                    [](const Placed& left, const Placed& right) {
                      return left.offset == right.offset && equal(left.body, right.body);
                    });
}

}  // namespace urakata::layout
