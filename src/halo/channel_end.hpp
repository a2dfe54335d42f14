// SPDX-License-Identifier: BSD-3-Clause
// What the caller of a neighbourhood channel says of each end, and what two ranks exchange to join two ends.
//
// Thread-safety: plain data. The layout of an end belongs to the caller and outlives the neighbourhood channel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halo/segments.hpp"
#include "layout/shape.hpp"

namespace urakata::halo {

struct OutChannel;

// An end of a channel, as the caller describes it: the elements that this rank sends to one neighbour of its
// list, or receives from one.
struct ChannelEnd {
  std::uint32_t peer;          // the other rank, by a number that this rank uses for no other rank
  std::ptrdiff_t offset;       // bytes from begin()'s base address to the elements
  std::uint64_t count;         // number of elements
  const layout::Shape* shape;  // layout of an element; nullptr: plain bytes
  std::int32_t far = kNear;    // the wire's number of a rank that shares no memory with this one

  static constexpr std::int32_t kNear = -1;

  bool near() const { return far == kNear; }
  std::uint64_t bytes() const { return shape == nullptr ? count : count * shape->size(); }
  // Whether payloads go by the wire.
  bool by_wire() const { return !near() && bytes() != 0; }
  Segment segment() const {
    const std::uint64_t all = bytes();
    if (shape == nullptr || shape->contiguous()) return {offset, all, {nullptr, all, nullptr}};
    return {offset, all, {nullptr, count, shape}};
  }
};

// The data that a sending end sends to its receiving one, to be joined. Plain data.
struct Record {
  OutChannel* channel = nullptr;  // valid in the space only; nullptr: the sender has no neighbourhood channel
  std::uint64_t bytes = 0;
  std::int32_t sink = 0;      // between nodes: number of the sender's sink
  std::uint32_t out = 0;      // between nodes: number of the channel at the sender
  std::uint32_t segment = 0;  // in a space: number of the segment in the channel
};

}  // namespace urakata::halo
