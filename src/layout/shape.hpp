// SPDX-License-Identifier: BSD-3-Clause
// A shape: the canonical form of a datatype, flat. What pack, unpack and copy work from.
//
// A shape is a graph of nodes without pointers. Each node repeats, over its dimensions, one of: a block of bytes; a
// list of pieces; a list of children, which are nodes at offsets. Children may share a node. Nearly all real types are
// one node: contiguous (no dimension), strided in n dimensions, or indexed blocks.
//
// Offsets and strides are bytes of memory, relative to the element's address; positions and sizes are bytes of payload
// in the order of the type map, which is the order of the packed form.
//
// Immutable after construction; any thread, and any task of a space, may read one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "layout/type_map.hpp"

namespace urakata::layout {

struct Dimension {
  std::uint64_t count;  // > 1 (the one that counts elements may be 1)
  std::int64_t stride;
  std::uint64_t size;  // payload of one of `count`
  bool operator==(const Dimension&) const = default;
};

// The last entry of a list is no child: its position is the list's end.
struct Child {
  std::int64_t offset;
  std::uint64_t position;
  std::size_t node;
  bool operator==(const Child&) const = default;
};

struct Node {
  std::uint64_t size = 0;  // payload, all dimensions included
  // The dimensions are [dimension, dimension + dimensions) of the shape's, outermost first.
  std::size_t dimension = 0;
  std::size_t dimensions = 0;
  std::uint64_t block = 0;  // the block's bytes, or those of every piece, where all are equally long; else 0
  std::size_t piece = 0;    // the pieces' offsets are [piece, piece + pieces)
  std::size_t pieces = 0;
  std::size_t position = 0;  // where their lengths differ (block == 0): [position, position + pieces], the last the end
  std::size_t child = 0;     // [child, child + children]
  std::size_t children = 0;
  bool operator==(const Node&) const = default;
};

class Shape {
 public:
  explicit Shape(const TypeMap& map);

  std::uint64_t size() const { return size_; }     // payload bytes of one element
  std::int64_t extent() const { return extent_; }  // memory bytes from one element to the next; may be negative

  // Whether elements lie one after the other without holes, in memory's order, each at its own address.
  bool contiguous() const;
  // Blocks of an element that do not join, the measure of how finely it is cut.
  std::uint64_t blocks() const { return blocks_; }

  std::int64_t start() const { return start_; }           // offset of the first byte
  std::span<const Node> nodes() const { return nodes_; }  // the last is the root; empty for a shape without bytes
  std::span<const Dimension> dimensions(const Node& node) const {
    return std::span(dimensions_).subspan(node.dimension, node.dimensions);
  }
  std::span<const std::int64_t> offsets(const Node& node) const {
    return std::span(offsets_).subspan(node.piece, node.pieces);
  }
  std::span<const std::uint64_t> positions(const Node& node) const {
    return std::span(positions_).subspan(node.position, node.pieces + 1);
  }
  std::span<const Child> children(const Node& node) const {
    return std::span(children_).subspan(node.child, node.children + 1);
  }

  // Equal type maps whose types were made in different ways mostly are equal shapes; equal shapes always are equal
  // maps.
  bool operator==(const Shape&) const = default;

 private:
  struct Flattening;

  std::uint64_t size_;
  std::int64_t extent_;
  std::int64_t start_;
  std::uint64_t blocks_ = 0;
  std::vector<Node> nodes_;
  std::vector<Dimension> dimensions_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::uint64_t> positions_;
  std::vector<Child> children_;
};

}  // namespace urakata::layout
