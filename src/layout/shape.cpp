#include "layout/shape.hpp"

#include <unordered_map>

namespace urakata::layout {

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
      node.piece = shape.pieces_.size();
      node.pieces = blocks = body.pieces.size();
      node.block = body.pieces[0].length;
      for (const auto& piece : body.pieces) {
        if (piece.length != node.block) node.block = 0;
        shape.pieces_.push_back({piece.offset, inner});
        inner += piece.length;
      }
      shape.pieces_.push_back({0, inner});
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

Shape::Shape(const TypeMap& map)
    : size_(map.size()),
      extent_(map.extent()),
      true_lb_(map.true_lb()),
      true_extent_(map.true_extent()),
      start_(map.placed().offset) {
  if (map.placed().body != nullptr) blocks_ = Flattening{*this, {}}.add(*map.placed().body).blocks;
}

bool Shape::contiguous() const {
  return nodes_.empty() || (blocks_ == 1 && start_ == 0 && extent_ == static_cast<std::int64_t>(size_));
}

}  // namespace urakata::layout
