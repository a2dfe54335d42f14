// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/call_staging.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "shim/collectives/call_binding.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {

namespace {

using collectives::Operation;
using device::Elements;
using device::StagingBuffer;

Elements elements_of(const Datatype& type, const std::byte* address, std::uint64_t count) {
  return {type.contiguous ? nullptr : &type, writable(address), type.contiguous ? count * type.size : count};
}

void retain_types_of(const std::vector<StagingBuffer::Part>& parts, Request& request) {
  for (const StagingBuffer::Part& part : parts) {
    if (part.elements.layout == nullptr) continue;
    const auto* type = static_cast<const Datatype*>(part.elements.layout);
    type->retain();
    if (!type->predefined()) request.types.push_back(type);
  }
}

// The parts of one side of an operation without a reduction. `own_only`: the only block that is input; ~0: all blocks
// are.
std::vector<StagingBuffer::Part> parts_of(const Side& side, bool in, bool out, std::uint32_t own_only) {
  std::vector<StagingBuffer::Part> parts;
  const std::byte* const at = static_cast<const std::byte*>(side.address);
  if (side.blocks.size() == 1 && !side.holes) {  // one block may describe those of all ranks
    const Block& block = side.blocks.front();
    const std::uint64_t bytes = block.elements * block.type->size;
    parts.push_back({{nullptr, writable(at + block.displacement), side.bytes}, in && own_only == ~0U, out});
    if (in && own_only != ~0U) parts.push_back({{nullptr, writable(at + own_only * bytes), bytes}, true, false});
  } else {
    for (std::uint32_t p = 0; p < side.blocks.size(); ++p) {
      const Block& block = side.blocks[p];
      parts.push_back({elements_of(*block.type, at + block.displacement, block.elements),
                       in && (own_only == ~0U || own_only == p), out});
    }
  }
  return parts;
}

int stage_side(Side& side, Request& request, std::unique_ptr<StagingBuffer> Staging::*to, bool in, bool out,
               std::uint32_t own_only) {
  std::vector<StagingBuffer::Part> parts = parts_of(side, in, out, own_only);
  retain_types_of(parts, request);
  return stage(std::move(parts), side.address, request, to);
}

int stage_moves(Reading& reading, Request& request) {
  const Received into = received_of(reading.key, request.communicator->rank);
  if (const int code = stage_side(reading.send, request, &Staging::send, true, false, ~0U); code != MPI_SUCCESS) {
    return code;
  }
  return stage_side(reading.recv, request, &Staging::recv, into.in, into.out, into.own);
}

int stage_reduction(Call& call, const Reading& reading, Request& request) {
  const Key& key = reading.key;
  const Datatype& element = *reading.element;
  const std::uint32_t rank = request.communicator->rank;
  std::uint64_t own = key.bytes;  // of the result
  std::uint64_t all = key.bytes;  // of the contribution
  if (key.operation == Operation::reduce_scatter) {
    all = 0;
    for (const std::uint64_t bytes : reading.blocks) all += bytes;
    own = reading.blocks[rank];
  } else if (key.operation == Operation::reduce_scatter_block) {
    all *= request.communicator->ranks;
  }
  const auto part = [&](const CallBuffer& buffer, std::uint64_t bytes, bool in) {
    const auto* const at = static_cast<const std::byte*>(buffer.address);
    return StagingBuffer::Part{elements_of(element, at, bytes / element.size), in, !in};
  };
  if (!key.in_place) {
    std::vector<StagingBuffer::Part> parts = {part(call.send, all, true)};
    retain_types_of(parts, request);
    const int code = stage(std::move(parts), call.send.address, request, &Staging::send);
    if (code != MPI_SUCCESS) return code;
  }
  const bool result =
      (key.operation != Operation::reduce || rank == key.root) && (key.operation != Operation::exscan || rank != 0);
  std::vector<StagingBuffer::Part> parts;
  if (key.in_place) parts.push_back(part(call.recv, all, true));
  if (result) parts.push_back(part(call.recv, own, false));
  retain_types_of(parts, request);
  return stage(std::move(parts), call.recv.address, request, &Staging::recv);
}

}  // namespace

int stage_call(Call& call, Reading& reading, Request& request) {
  if (reading.element != nullptr) return stage_reduction(call, reading, request);
  return stage_moves(reading, request);
}

bool needs_staging(const Reading& reading) {
  return std::ranges::any_of(std::array{&reading.send, &reading.recv}, [](const Side* side) {
    const auto made = StagingBuffer::of(parts_of(*side, false, false, ~0U));
    return !made || *made != nullptr;
  });
}

}  // namespace urakata::shim
