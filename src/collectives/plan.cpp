// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/plan.hpp"

#include <algorithm>

namespace urakata::collectives {

using schedule::Chunks;
using schedule::Flow;
using schedule::Kind;
using schedule::kSliceBytes;
using schedule::Place;

Nodes operator+(Nodes left, const Nodes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Error needs_commutativity(const char* name) {
  return Error{std::string(name) +
               " combines ranks out of order, and this reduction does not commute; take another algorithm"};
}

Plan::Plan(const char* name, const Arguments& arguments, std::uint64_t segment)
    : arguments_(arguments),
      segment_(arguments.segment != 0 ? arguments.segment : segment),
      builder_(name, arguments.ranks, arguments.rank) {}

std::int64_t Plan::memory(std::int64_t bytes) const {
  const auto element = static_cast<std::int64_t>(arguments_.element);
  return arguments_.element == arguments_.extent ? bytes
                                                 : bytes / element * static_cast<std::int64_t>(arguments_.extent);
}

Chunks Plan::message(std::uint64_t bytes) const {
  return segment_ == 0 || bytes <= segment_ ? schedule::whole(bytes)
                                            : schedule::cut(bytes, segment_, arguments_.element);
}

Place Plan::place(const Piece& piece, std::uint64_t chunk) const {
  return {.buffer = piece.buffer,
          .wrap = piece.wrap,
          .offset = memory(piece.offset),
          .stride = memory(static_cast<std::int64_t>(chunk))};
}

Piece Plan::temp(std::uint64_t bytes) {
  const auto size = static_cast<std::uint64_t>(memory(static_cast<std::int64_t>(bytes)));
  return {.buffer = builder_.temp(size), .bytes = bytes};
}

Piece Plan::inbox(std::uint64_t bytes) {
  const Chunks chunks = message(bytes);
  if (chunks.count <= kWindow) return temp(bytes);
  Piece ring = temp(chunks.bytes * kWindow);
  ring.bytes = bytes;
  ring.wrap = kWindow;
  return ring;
}

Nodes Plan::ordered(NodeId node, Kind kind, std::uint32_t peer, std::uint32_t step) {
  auto [entry, first] = last_.try_emplace({kind, peer, step % schedule::kChannels}, node);
  if (!first) {
    builder_.after(entry->second, node);
    entry->second = node;
  }
  return {node};
}

Nodes Plan::send(std::uint32_t peer, Piece from, std::uint32_t step) {
  if (from.bytes == 0) return {};
  const Chunks chunks = message(from.bytes);
  const Flow flow{.window = std::min(chunks.count, kWindow),
                  .channel = static_cast<std::uint8_t>(step % schedule::kChannels)};
  return ordered(builder_.send(peer, place(from, chunks.bytes), chunks, flow), Kind::send, peer, step);
}

Nodes Plan::recv(std::uint32_t peer, Piece to, std::uint32_t step) {
  if (to.bytes == 0) return {};
  const Chunks chunks = message(to.bytes);
  const Flow flow{.window = std::min(chunks.count, kWindow),
                  .channel = static_cast<std::uint8_t>(step % schedule::kChannels)};
  return ordered(builder_.recv(peer, place(to, chunks.bytes), chunks, flow), Kind::recv, peer, step);
}

// A whole message is worked on by one node, slice after slice. Chunks of a stream that are longer than a slice need a
// node for each slice of the chunk, so that all have the stream's iterations and can be tied to it with `each`.
template <class Add>
Nodes Plan::work(const Piece& from, const Piece& to, Add add) {
  const std::uint64_t bytes = to.bytes;
  if (bytes == 0) return {};
  const Chunks chunks = message(bytes);
  if (chunks.count == 1) {
    const Chunks slices = schedule::cut(bytes, kSliceBytes, arguments_.element);
    return {add(place(from, slices.bytes), place(to, slices.bytes), slices)};
  }
  const Chunks slices = schedule::cut(chunks.bytes, kSliceBytes, arguments_.element);
  Nodes nodes;
  for (std::uint32_t i = 0; i < slices.count; ++i) {
    const std::uint64_t begin = i * slices.bytes;
    const std::uint64_t length = i + 1 == slices.count ? slices.last_bytes : slices.bytes;
    const std::uint64_t last = chunks.last_bytes > begin ? std::min(chunks.last_bytes - begin, length) : 0;
    Place a = place(from, chunks.bytes);
    Place b = place(to, chunks.bytes);
    a.offset += memory(static_cast<std::int64_t>(begin));
    b.offset += memory(static_cast<std::int64_t>(begin));
    nodes.push_back(add(a, b, Chunks{.count = chunks.count, .bytes = length, .last_bytes = last}));
  }
  return nodes;
}

Nodes Plan::copy(Piece from, Piece to) {
  if (from == to) return {};
  return work(from, to, [this](Place a, Place b, Chunks chunks) { return builder_.copy(a, b, chunks); });
}

Nodes Plan::reduce(Piece left, Piece right) {
  return work(left, right, [this](Place a, Place b, Chunks chunks) { return builder_.reduce(a, b, chunks); });
}

void Plan::after(const Nodes& from, const Nodes& to) {
  for (NodeId a : from) {
    for (NodeId b : to) builder_.after(a, b);
  }
}

void Plan::each(const Nodes& from, const Nodes& to) {
  const auto nodes = builder_.draft().nodes();
  for (NodeId a : from) {
    for (NodeId b : to) {
      const bool alike = nodes[a].count == nodes[b].count && nodes[a].count > 1;
      alike ? builder_.each(a, b) : builder_.after(a, b);
    }
  }
}

void Plan::recycle(const Piece& inbox, const Nodes& user, const Nodes& recv) {
  if (inbox.wrap == 0) return;
  for (NodeId a : user) {
    for (NodeId b : recv) builder_.each(a, b, inbox.wrap);
  }
}

}  // namespace urakata::collectives
