// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/call_reading.hpp"

#include <algorithm>
#include <ranges>
#include <vector>

#include "shim/native/native_library.hpp"

namespace urakata::shim {

namespace {

using collectives::Arguments;
using collectives::Operation;

constexpr bool is_reduction(Operation operation) {
  return operation >= Operation::reduce && operation != Operation::count_;
}
static_assert(Operation::exscan > Operation::reduce && Operation::neighbor_alltoallv < Operation::reduce);

// Kept per thread, so that reading a call allocates nothing once it has been as large.
struct Scratch {
  std::vector<Block> send, recv;
  std::vector<std::uint64_t> words;  // the key's blocks: send bytes, send displacements, recv bytes, recv displacements
};
thread_local Scratch scratch;

// How many blocks each side of an operation that only moves has on this rank; 0: the side is not significant here.
struct Parts {
  std::uint32_t send = 0;
  std::uint32_t recv = 0;
};
Parts parts_of(Operation operation, std::uint32_t ranks, bool at_root) {
  switch (operation) {
    case Operation::bcast:
      return {0, 1};
    case Operation::gather:
    case Operation::gatherv:
      return {1, at_root ? ranks : 0};
    case Operation::scatter:
    case Operation::scatterv:
      return {at_root ? ranks : 0, 1};
    case Operation::allgather:
    case Operation::allgatherv:
      return {1, ranks};
    case Operation::alltoall:
    case Operation::alltoallv:
      return {ranks, ranks};
    default:
      return {};
  }
}

// The key's blocks of a v-form: payload and place of each, as the schedule will see them.
void add_blocks(const Side& side, std::vector<std::uint64_t>& words) {
  for (const Block& block : side.blocks) words.push_back(block.elements * block.type->size);
  std::uint64_t packed = 0;
  for (const Block& block : side.blocks) {
    words.push_back(side.holes ? packed : static_cast<std::uint64_t>(block.displacement));
    packed += block.elements * block.type->size;
  }
}

collectives::Blocks take_blocks(std::span<const std::uint64_t>& words, std::size_t parts) {
  const auto bytes = words.first(parts);
  const auto places = words.subspan(parts, parts);
  words = words.subspan(2 * parts);
  return {bytes, {reinterpret_cast<const std::int64_t*>(places.data()), parts}};
}

// add_blocks() for blocks of neighbours. With `for_all`, one block goes to all neighbours; otherwise the blocks of
// neighbours that are MPI_PROC_NULL become empty.
void add_neighbours(Side& side, std::vector<Block>& blocks, std::span<const std::uint32_t> ranks, bool for_all,
                    std::vector<std::uint64_t>& words) {
  if (side.blocks.size() < ranks.size() && !for_all) {  // the first stands for all
    const Block first = blocks.front();
    blocks.assign(ranks.size(), first);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      blocks[i].displacement = static_cast<std::int64_t>(i * first.elements * first.type->extent);
    }
    side.blocks = blocks;
  }
  const auto block = [&](std::size_t i) -> const Block& { return blocks[for_all ? 0 : i]; };
  for (std::size_t i = 0; i < ranks.size() && !for_all; ++i) {
    if (ranks[i] == collectives::Neighbourhood::kNobody) blocks[i].elements = 0;
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) words.push_back(block(i).elements * block(i).type->size);
  std::uint64_t packed = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    words.push_back(side.holes ? packed : static_cast<std::uint64_t>(block(i).displacement));
    if (!for_all) packed += block(i).elements * block(i).type->size;
  }
}

bool read_neighbourhood(const Call& call, Communicator& comm, Scratch& room, Reading& reading) {
  const Neighbours* const known = comm.neighbours();
  if (known == nullptr || reading.key.in_place || call.recv.address == MPI_IN_PLACE) return false;
  // A rank without neighbours on one side may have no arrays there.
  const auto either = [&](auto given) { return given(call.send) || given(call.recv); };
  const Form form = either([](const CallBuffer& side) { return side.types != nullptr; })         ? Form::alltoallw
                    : either([](const CallBuffer& side) { return side.counts.data != nullptr; }) ? Form::alltoallv
                                                                                                 : Form::alltoall;
  reading.neighbours = known->view(form, call.form == CallForm::blocking);
  const auto& [destinations, sources, order] = reading.neighbours;
  reading.key.in_order = order.empty();
  const auto parts = static_cast<std::uint32_t>(destinations.size());
  if (!describe(call.send, call.send.for_all ? std::min(parts, 1U) : parts, room.send, reading.send)) return false;
  if (!describe(call.recv, static_cast<std::uint32_t>(sources.size()), room.recv, reading.recv)) return false;
  add_neighbours(reading.send, room.send, destinations, call.send.for_all, room.words);
  for (const std::uint64_t bytes : room.words | std::views::take(parts)) reading.key.bytes += bytes;
  if (parts != 0) reading.key.bytes /= parts;  // the mean block, for the report
  add_neighbours(reading.recv, room.recv, sources, false, room.words);
  return true;
}

bool read_reduction(const Call& call, std::uint32_t ranks, std::vector<std::uint64_t>& words, Reading& reading) {
  Key& key = reading.key;
  const Datatype* element = datatype(call.recv.type);
  if (element == nullptr) return false;
  const Meaning meaning = meaning_of(call.op, *element);
  if (meaning.builtin == nullptr && meaning.user == nullptr) return false;
  if (element->size == 0) return false;
  // Elements with holes that do not follow each other in memory: the call falls back.
  if (!element->contiguous && static_cast<std::int64_t>(element->extent) <= 0) return false;
  reading.element = element;
  reading.meaning = meaning;
  key.element = element->size;
  key.extent = element->contiguous ? element->size : element->extent;
  key.commutative = meaning.user == nullptr || meaning.user->commutative();
  // If the MPI library has no hook, a rank that blocks in it cannot apply a user's function for other ranks. So no rank
  // may need another one to.
  key.inputs_only = meaning.user != nullptr && native.progress_register == nullptr;
  if (key.operation != Operation::reduce_scatter) {
    if (call.recv.count < 0) return false;
    key.bytes = static_cast<std::uint64_t>(call.recv.count) * element->size;
    return true;
  }
  for (std::uint32_t p = 0; p < ranks; ++p) {
    if (call.recv.counts[p] < 0) return false;
    words.push_back(static_cast<std::uint64_t>(call.recv.counts[p]) * element->size);
    key.bytes += words.back();
  }
  key.bytes /= std::max(ranks, 1U);  // the mean block, by which the algorithm is chosen
  return true;
}

// What the key says of the sides of an operation that only moves: the bytes of one block, or all blocks of a v-form.
void add_sides(const Side& send, const Side& recv, std::uint32_t ranks, bool at_root, std::vector<std::uint64_t>& words,
               Key& key) {
  switch (key.operation) {
    // gatherv, scatterv: what this rank contributes or gets is in `bytes`, the root has all in the blocks.
    case Operation::gatherv:
      key.bytes = send.bytes;
      if (at_root) add_blocks(recv, words);
      return;
    case Operation::scatterv:
      key.bytes = recv.bytes;
      if (at_root) add_blocks(send, words);
      return;
    case Operation::allgatherv:
      key.bytes = recv.bytes / ranks;  // the mean block: algorithms are chosen by what all ranks know
      add_blocks(recv, words);
      return;
    case Operation::alltoallv:
      add_blocks(key.in_place ? recv : send, words);
      add_blocks(recv, words);
      return;
    default:
      const bool sends = recv.blocks.empty() || (key.operation == Operation::scatter && at_root);
      const Side& fixed = sends ? send : recv;
      key.bytes = fixed.blocks.empty() ? 0 : fixed.blocks[0].elements * fixed.blocks[0].type->size;
  }
}

}  // namespace

bool read_call(const Call& call, Communicator& comm, Reading& reading) {
  const std::uint32_t ranks = comm.ranks;
  if (call.root < 0 || static_cast<std::uint32_t>(call.root) >= ranks) return false;
  // In place: the argument that is MPI_IN_PLACE says so (recvbuf for scatter's root, sendbuf everywhere else).
  const Operation operation = call.operation;
  const bool scatters = operation == Operation::scatter || operation == Operation::scatterv;
  Key& key = reading.key;
  key.operation = operation;
  key.in_place = (scatters ? call.recv : call.send).address == MPI_IN_PLACE;
  key.root = static_cast<std::uint32_t>(call.root);

  Scratch& room = scratch;
  room.words.clear();
  if (is_reduction(operation)) {
    if (!read_reduction(call, ranks, room.words, reading)) return false;
  } else if (operation == Operation::neighbor_alltoallv) {
    if (!read_neighbourhood(call, comm, room, reading)) return false;
  } else if (operation != Operation::barrier) {
    const bool at_root = comm.rank == key.root;
    Parts parts = parts_of(operation, ranks, at_root);
    if (key.in_place) (scatters ? parts.recv : parts.send) = 0;
    if (!describe(call.send, parts.send, room.send, reading.send)) return false;
    if (!describe(call.recv, parts.recv, room.recv, reading.recv)) return false;
    add_sides(reading.send, reading.recv, ranks, at_root, room.words, key);
  }
  reading.blocks = room.words;
  return true;
}

Arguments arguments_of(const Reading& reading, const Communicator& comm) {
  const Key& key = reading.key;
  const Operation operation = key.operation;
  const bool at_root = comm.rank == key.root;
  Arguments arguments;
  arguments.ranks = comm.ranks;
  arguments.rank = comm.rank;
  arguments.root = key.root;
  arguments.in_place = key.in_place;
  arguments.bytes = key.bytes;
  arguments.element = key.element;
  arguments.extent = key.extent;
  arguments.commutative = key.commutative;
  std::span<const std::uint64_t> words = reading.blocks;
  if (operation == Operation::neighbor_alltoallv) {
    arguments.neighbours = reading.neighbours;
    arguments.send = take_blocks(words, arguments.neighbours.destinations.size());
    arguments.recv = take_blocks(words, arguments.neighbours.sources.size());
    return arguments;
  }
  if (operation == Operation::alltoallv || (operation == Operation::scatterv && at_root)) {
    arguments.send = take_blocks(words, comm.ranks);
  }
  if (operation == Operation::alltoallv || operation == Operation::allgatherv ||
      (operation == Operation::gatherv && at_root)) {
    arguments.recv = take_blocks(words, comm.ranks);
  } else if (operation == Operation::reduce_scatter) {
    arguments.recv.bytes = words;
  }
  return arguments;
}

}  // namespace urakata::shim
