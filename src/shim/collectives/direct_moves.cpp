// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/direct_moves.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "shim/collectives/call_side.hpp"
#include "shim/collectives/direct_sides.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {

namespace {

using collectives::Operation;
using direct::Outcome;
using direct::Range;
using Bytes = std::span<const std::byte>;

// Kept per thread, so that a call allocates nothing once it has been as large.
struct MoveScratch {
  std::vector<std::byte> packed;  // payloads that must be packed, or copied aside
  std::vector<direct::Collectives::Part> parts;
};
thread_local MoveScratch move_scratch;

// As of direct_sides.hpp, with the thread's scratch.
Bytes payload_of(const Side& side, std::uint64_t index) { return payload_of(side, index, move_scratch.packed); }
Bytes payload_of_all(const Side& side, std::uint32_t blocks, bool aside = false) {
  return payload_of_all(side, blocks, aside, move_scratch.packed);
}
std::span<const direct::Collectives::Part> payload_parts(const Side& side, std::uint32_t blocks, bool aside = false) {
  payload_parts(side, blocks, aside, move_scratch.packed, move_scratch.parts);
  return move_scratch.parts;
}

// Puts what has come for a block in its place: the first `bytes` bytes of its payload.
void take(const Side& side, std::uint64_t index, const std::byte* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  const Block block = block_of(side, index);
  std::byte* const to = writable(side.address) + block.displacement;
  if (!side.holes) {
    std::memcpy(to, from, bytes);
  } else {
    block.type->unpack(from, to, 0, bytes / block.type->size);
  }
}

// The same of what this rank sends to itself, as much as the block holds.
void take_own(const Side& side, std::uint64_t index, Bytes own) {
  take(side, index, own.data(), std::min<std::uint64_t>(own.size(), bytes_of(block_of(side, index))));
}

auto take_block(const Side& side, std::uint64_t index) {
  return [&side, index](std::uint32_t /*rank*/, const std::byte* from, std::uint64_t bytes) {
    take(side, index, from, bytes);
  };
}

auto take_of_each(const Side& side) {
  return [&side](std::uint32_t rank, const std::byte* from, std::uint64_t bytes) { take(side, rank, from, bytes); };
}

// The same range of each rank's payload.
auto always(Range range) {
  return [range](std::uint32_t /*rank*/) { return range; };
}

// Of each rank's payload as much as this side's block for it holds, and it should be that long.
auto whole_blocks(const Side& side) {
  return [&side](std::uint32_t rank) {
    const std::uint64_t bytes = bytes_of(block_of(side, rank));
    return Range{0, bytes, bytes};
  };
}

Outcome bcast(const Reading& reading, direct::Collectives& direct) {
  const std::uint32_t root = reading.key.root;
  const Side& side = reading.recv;
  if (direct.rank() != root) {
    return direct.move(nullptr, root, root + 1, always({0, side.bytes, side.bytes}), take_block(side, 0));
  }
  const Bytes own = payload_of(side, 0);
  return direct.move(&own, 0, 0, always({}), take_block(side, 0));
}

Outcome gather(const Reading& reading, direct::Collectives& direct) {
  const Side& side = reading.recv;
  if (direct.rank() != reading.key.root) {
    const Bytes own = payload_of(reading.send, 0);
    return direct.move(&own, 0, 0, always({}), take_of_each(side));
  }
  if (!reading.key.in_place) take_own(side, direct.rank(), payload_of(reading.send, 0));
  return direct.move(nullptr, 0, direct.ranks(), whole_blocks(side), take_of_each(side));
}

Outcome scatter(const Reading& reading, direct::Collectives& direct) {
  const std::uint32_t root = reading.key.root;
  if (direct.rank() != root) {
    const std::uint64_t bytes = reading.recv.bytes;
    const Range range{direct.rank() * bytes, bytes, direct.ranks() * bytes};
    return direct.move(nullptr, root, root + 1, always(range), take_block(reading.recv, 0));
  }
  const Bytes own = payload_of_all(reading.send, direct.ranks());
  const std::uint64_t bytes = bytes_of(block_of(reading.send, root));
  if (!reading.key.in_place) take_own(reading.recv, 0, own.subspan(root * bytes, bytes));
  return direct.move(&own, 0, 0, always({}), take_block(reading.recv, 0));
}

Outcome scatterv(const Reading& reading, direct::Collectives& direct) {
  const std::uint32_t root = reading.key.root;
  const std::uint64_t bytes = reading.recv.bytes;
  if (direct.rank() != root) {
    return direct.move_parts({}, root, root + 1, always({0, bytes, bytes}), take_block(reading.recv, 0));
  }
  const auto own = payload_parts(reading.send, direct.ranks());
  if (!reading.key.in_place) take_own(reading.recv, 0, {own[root].at, own[root].bytes});
  return direct.move_parts(own, 0, 0, always({}), take_block(reading.recv, 0));
}

Outcome allgather(const Reading& reading, direct::Collectives& direct) {
  const Side& side = reading.recv;
  const Bytes own = reading.key.in_place ? payload_of(side, direct.rank()) : payload_of(reading.send, 0);
  if (!reading.key.in_place) take_own(side, direct.rank(), own);
  return direct.move(&own, 0, direct.ranks(), whole_blocks(side), take_of_each(side));
}

Outcome alltoall(const Reading& reading, direct::Collectives& direct) {
  const Side& side = reading.recv;
  const Side& from = reading.key.in_place ? side : reading.send;
  const std::uint64_t bytes = bytes_of(block_of(from, 0));
  const bool aside =
      reading.key.in_place && !direct::Collectives::is_eager(side.bytes);  // it is overwritten while others read
  const Bytes own = payload_of_all(from, direct.ranks(), aside);
  if (!reading.key.in_place) take_own(side, direct.rank(), own.subspan(direct.rank() * bytes, bytes));
  return direct.move(&own, 0, direct.ranks(), always({direct.rank() * bytes, bytes, own.size()}), take_of_each(side));
}

Outcome alltoallv(const Reading& reading, direct::Collectives& direct) {
  const Side& side = reading.recv;
  const std::uint32_t rank = direct.rank();
  const bool in_place = reading.key.in_place;  // it is overwritten while others read
  const auto own = payload_parts(in_place ? side : reading.send, direct.ranks(), in_place);
  if (!in_place) take_own(side, rank, {own[rank].at, own[rank].bytes});
  return direct.move_parts(own, 0, direct.ranks(), whole_blocks(side), take_of_each(side));
}

}  // namespace

Outcome move_directly(const Reading& reading, direct::Collectives& direct) {
  switch (reading.key.operation) {
    case Operation::bcast:
      return bcast(reading, direct);
    case Operation::gather:
    case Operation::gatherv:
      return gather(reading, direct);
    case Operation::scatter:
      return scatter(reading, direct);
    case Operation::scatterv:
      return scatterv(reading, direct);
    case Operation::allgather:
    case Operation::allgatherv:
      return allgather(reading, direct);
    case Operation::alltoall:
      return alltoall(reading, direct);
    default:
      return alltoallv(reading, direct);
  }
}

}  // namespace urakata::shim
