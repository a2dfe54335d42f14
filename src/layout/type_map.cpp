// SPDX-License-Identifier: BSD-3-Clause
#include "layout/type_map.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace urakata::layout {

namespace {

std::int64_t padded(std::int64_t offset, std::uint64_t alignment) {
  const auto unit = static_cast<std::int64_t>(alignment);
  return (offset + unit - 1) / unit * unit;
}

}  // namespace

TypeMap TypeMap::bytes(std::uint64_t size, std::uint64_t alignment) {
  TypeMap map;
  map.placed_.body = block_of(size);
  map.ub_ = map.true_ub_ = static_cast<std::int64_t>(size);
  map.alignment_ = alignment;
  return map;
}

TypeMap TypeMap::pair(const TypeMap& value, const TypeMap& index) {
  const std::int64_t ones[] = {1, 1};
  const std::int64_t displacements[] = {0, padded(value.extent(), index.alignment_)};
  const TypeMap members[] = {value, index};
  return structure(ones, displacements, members);
}

// The map `count` times, `stride` bytes apart. MPI's bounds: the extremes over all copies.
TypeMap TypeMap::repeated(std::uint64_t count, std::int64_t stride) const {
  if (count == 0) {
    TypeMap none;
    none.alignment_ = alignment_;
    return none;
  }
  TypeMap map = *this;
  const std::int64_t last = static_cast<std::int64_t>(count - 1) * stride;
  map.placed_.body = layout::repeated(placed_.body, count, stride);
  map.lb_ += std::min<std::int64_t>(last, 0);
  map.ub_ += std::max<std::int64_t>(last, 0);
  if (size() != 0) {
    map.true_lb_ += std::min<std::int64_t>(last, 0);
    map.true_ub_ += std::max<std::int64_t>(last, 0);
  }
  return map;
}

// Members one after the other at their displacements; those without elements have an empty map and do not count.
TypeMap TypeMap::joined(std::span<const std::int64_t> displacements, std::span<const TypeMap> members) {
  TypeMap map;
  std::vector<Placed> parts;
  parts.reserve(members.size());
  bool any = false;
  bool any_bytes = false;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const TypeMap& member = members[i];
    const std::int64_t at = displacements[i];
    map.alignment_ = std::max(map.alignment_, member.alignment_);
    map.lb_ = any ? std::min(map.lb_, at + member.lb_) : at + member.lb_;
    map.ub_ = any ? std::max(map.ub_, at + member.ub_) : at + member.ub_;
    any = true;
    if (member.size() == 0) continue;
    map.true_lb_ = any_bytes ? std::min(map.true_lb_, at + member.true_lb_) : at + member.true_lb_;
    map.true_ub_ = any_bytes ? std::max(map.true_ub_, at + member.true_ub_) : at + member.true_ub_;
    any_bytes = true;
    parts.push_back({at + member.placed_.offset, member.placed_.body});
  }
  map.placed_ = sequence_of(std::move(parts));
  return map;
}

TypeMap TypeMap::contiguous(std::uint64_t count, const TypeMap& old) { return old.repeated(count, old.extent()); }

TypeMap TypeMap::vector(std::uint64_t count, std::uint64_t length, std::int64_t stride, const TypeMap& old) {
  return hvector(count, length, stride * old.extent(), old);
}

TypeMap TypeMap::hvector(std::uint64_t count, std::uint64_t length, std::int64_t stride, const TypeMap& old) {
  if (length == 0) return old.repeated(0, 0);
  return contiguous(length, old).repeated(count, stride);
}

TypeMap TypeMap::indexed(std::span<const std::int64_t> lengths, std::span<const std::int64_t> displacements,
                         const TypeMap& old) {
  std::vector<std::int64_t> bytes(displacements.begin(), displacements.end());
  for (std::int64_t& displacement : bytes) displacement *= old.extent();
  return hindexed(lengths, bytes, old);
}

TypeMap TypeMap::hindexed(std::span<const std::int64_t> lengths, std::span<const std::int64_t> displacements,
                          const TypeMap& old) {
  std::vector<TypeMap> members;
  std::vector<std::int64_t> places;
  members.reserve(lengths.size());
  places.reserve(lengths.size());
  std::optional<std::size_t> last;  // neighbours often have one length, and then share one body
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    if (last.has_value() && lengths[*last] == lengths[i]) {
      members.push_back(members.back());
    } else {
      members.push_back(contiguous(static_cast<std::uint64_t>(lengths[i]), old));
    }
    last = i;
    places.push_back(displacements[i]);
  }
  return joined(places, members);
}

TypeMap TypeMap::indexed_block(std::uint64_t length, std::span<const std::int64_t> displacements, const TypeMap& old) {
  const std::vector<std::int64_t> lengths(displacements.size(), static_cast<std::int64_t>(length));
  return indexed(lengths, displacements, old);
}

TypeMap TypeMap::hindexed_block(std::uint64_t length, std::span<const std::int64_t> displacements, const TypeMap& old) {
  const std::vector<std::int64_t> lengths(displacements.size(), static_cast<std::int64_t>(length));
  return hindexed(lengths, displacements, old);
}

TypeMap TypeMap::structure(std::span<const std::int64_t> lengths, std::span<const std::int64_t> displacements,
                           std::span<const TypeMap> olds) {
  std::vector<TypeMap> members;
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    members.push_back(contiguous(static_cast<std::uint64_t>(lengths[i]), olds[i]));
    places.push_back(displacements[i]);
  }
  TypeMap map = joined(places, members);
  map.ub_ = map.lb_ + padded(map.ub_ - map.lb_, map.alignment_);
  return map;
}

TypeMap TypeMap::resized(std::int64_t lb, std::int64_t extent, const TypeMap& old) {
  TypeMap map = old;
  map.lb_ = lb;
  map.ub_ = lb + extent;
  return map;
}

}  // namespace urakata::layout
