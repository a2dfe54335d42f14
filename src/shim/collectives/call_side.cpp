// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/call_side.hpp"

namespace urakata::shim {

bool describe(const CallBuffer& buffer, std::uint32_t parts, std::vector<Block>& blocks, Side& side) {
  side.address = buffer.address;
  if (parts == 0) return true;
  const Datatype* type = buffer.types == nullptr ? datatype(buffer.type) : nullptr;
  if (type == nullptr && buffer.types == nullptr) return false;
  if (buffer.counts.data == nullptr) {
    if (buffer.count < 0 || type == nullptr) return false;
    const auto elements = static_cast<std::uint64_t>(buffer.count);
    if (type->contiguous) {
      if (blocks.empty()) blocks.resize(1);
      blocks.front() = {type, elements, 0};
      side.blocks = std::span(blocks).first(1);
      side.bytes = parts * elements * type->size;
      return true;
    }
    blocks.clear();
    for (std::uint32_t p = 0; p < parts; ++p) {
      blocks.push_back({type, elements, static_cast<std::int64_t>(p * elements * type->extent)});
    }
  } else {
    blocks.clear();
    for (std::uint32_t p = 0; p < parts; ++p) {
      const std::int64_t count = buffer.counts[p];
      const Datatype* of = buffer.types != nullptr ? datatype(buffer.types[p]) : type;
      if (of == nullptr && count == 0) of = datatype(MPI_BYTE);  // some MPI libraries ignore the type of 0 elements
      if (count < 0 || of == nullptr) return false;
      const std::int64_t step = buffer.types != nullptr ? 1 : static_cast<std::int64_t>(of->extent);
      const std::int64_t displacement = buffer.displacements.data != nullptr ? buffer.displacements[p] * step : 0;
      blocks.push_back({of, static_cast<std::uint64_t>(count), displacement});
    }
  }
  for (const Block& block : blocks) {
    side.bytes += block.elements * block.type->size;
    side.holes = side.holes || (!block.type->contiguous && block.elements != 0);
  }
  side.blocks = blocks;
  return true;
}

}  // namespace urakata::shim
