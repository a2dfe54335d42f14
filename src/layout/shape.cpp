// SPDX-License-Identifier: BSD-3-Clause
#include "layout/shape.hpp"

#include <algorithm>
#include <unordered_map>

namespace urakata::layout {

namespace {

// The length that all pieces have, if need be after cutting a few that are multiples of it: in a list of short pieces
// of random distances some are neighbours by chance, and loops over one length are much faster. 0: there is none.
std::uint64_t common_length(const Body& body) {
  constexpr std::uint64_t kShort = 64;
  std::uint64_t shortest = body.pieces[0].length;
  std::uint64_t total = 0;
  for (const auto& piece : body.pieces) {
    shortest = std::min(shortest, piece.length);
    total += piece.length;
  }
  for (const auto& piece : body.pieces) {
    if (piece.length % shortest != 0) return 0;
  }
  const std::uint64_t cut = total / shortest;
  const bool worth_it = shortest <= kShort && cut <= body.pieces.size() + body.pieces.size() / 2;
  return cut == body.pieces.size() || worth_it ? shortest : 0;
}

}  // namespace

// Bodies to nodes, children first; a body that several parts share becomes one node.
struct Shape::Flattening {
  struct Made {
    std::size_t node;
    std::uint64_t blocks;
  };
  Shape& shape;
  std::unordered_map<const Body*, Made> made;

  Made add(const Body& body) {
    if (const auto found = made.find(&body); found != made.end()) return found->second;
    std::vector<Made> parts;
    parts.reserve(body.sequence.size());
    for (const Placed& part : body.sequence) parts.push_back(add(*part.body));

    Node node;
    std::uint64_t blocks = 1;
    node.block = body.block;
    std::uint64_t inner = body.block;
    if (!body.pieces.empty()) {
      node.piece = shape.offsets_.size();
      node.position = shape.positions_.size();
      node.block = common_length(body);
      for (const auto& piece : body.pieces) {
        const std::uint64_t step = node.block != 0 ? node.block : piece.length;
        for (std::uint64_t at = 0; at < piece.length; at += step) {
          shape.offsets_.push_back(piece.offset + static_cast<std::int64_t>(at));
        }
        if (node.block == 0) shape.positions_.push_back(inner);
        inner += piece.length;
      }
      node.pieces = shape.offsets_.size() - node.piece;
      if (node.block == 0) shape.positions_.push_back(inner);
      blocks = body.pieces.size();
    } else if (!body.sequence.empty()) {
      node.child = shape.children_.size();
      node.children = body.sequence.size();
      blocks = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        shape.children_.push_back({body.sequence[i].offset, inner, parts[i].node});
        inner += body.sequence[i].body->size;
        blocks += parts[i].blocks;
      }
      shape.children_.push_back({0, inner, 0});
    }
    node.size = body.size;
    node.dimension = shape.dimensions_.size();
    node.dimensions = body.dimensions.size();
    std::uint64_t size = body.size;
    for (const auto& [count, stride] : body.dimensions) {
      size /= count;
      blocks *= count;
      shape.dimensions_.push_back({count, stride, size});
    }
    shape.nodes_.push_back(node);
    return made[&body] = {shape.nodes_.size() - 1, blocks};
  }
};

Shape::Shape(const TypeMap& map) : size_(map.size()), extent_(map.extent()), start_(map.placed().offset) {
  if (map.placed().body != nullptr) blocks_ = Flattening{*this, {}}.add(*map.placed().body).blocks;
}

bool Shape::contiguous() const {
  return nodes_.empty() || (blocks_ == 1 && start_ == 0 && extent_ == static_cast<std::int64_t>(size_));
}

}  // namespace urakata::layout
