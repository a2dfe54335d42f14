// SPDX-License-Identifier: BSD-3-Clause
// The items that the work of an operation is cut into (operation_block.hpp).
#include <algorithm>
#include <array>
#include <cstring>

#include "direct/folding.hpp"
#include "direct/operations.hpp"

namespace urakata::direct {

// The piece of a range that this item moves.
Operations::Piece Operations::piece_of(const Work& work, std::uint64_t item) {
  for (std::uint32_t i = 0; i < work.targets_count; ++i) {
    const Target& target = work.targets[i];
    const std::uint64_t its = target.range.of != 0 ? items_of(target.range) : 0;
    if (item < its) {
      const std::uint64_t offset = item * kItem;
      return {work.first + i, &target, offset, std::min(kItem, target.range.bytes - offset)};
    }
    item -= its;
  }
  return {};
}

// Bytes of the result that an item computes: each takes that much of every payload.
std::uint64_t Operations::result_item(const Operation& operation) const {
  const std::uint64_t element = operation.reducer->size;
  const std::uint64_t bytes = std::max(kLeastItem, kItem / ranks());
  return bytes / element * element;
}

// Performs the next item of that rank's work, which has been posted. False: none can be performed now. The rank may be
// this one; of others, the work must be shared.
bool Operations::perform_item(Operation& operation, std::uint32_t of) {
  Work& work = posting(of, operation.sequence_).work;
  const bool moves = operation.shape == Operation::Shape::moves;
  if (work.kind != (moves ? Work::Kind::moves : Work::Kind::reduction)) return false;
  if (!moves && operation.absent_ != Operation::kNobody) return false;
  std::uint64_t item = work.taken.load(std::memory_order_relaxed);
  Piece piece;
  do {
    if (item >= work.items) return false;
    if (!moves) continue;
    piece = piece_of(work, item);
    if (piece.target == nullptr || !has_posted(piece.from, operation.sequence_)) return false;
  } while (!work.taken.compare_exchange_weak(item, item + 1, std::memory_order_relaxed));
  const Outcome outcome = moves ? move_piece(operation, of, piece) : reduce_item(operation, of, item);
  if (outcome != Outcome::good) work.outcome.store(outcome, std::memory_order_relaxed);
  if (work.left.fetch_sub(1, std::memory_order_acq_rel) == 1) wake();
  return true;
}

Outcome Operations::move_piece(const Operation& operation, std::uint32_t of, const Piece& piece) {
  Outcome outcome = Outcome::good;
  const Slot& slot = posting(piece.from, operation.sequence_).slot;
  const std::span<const std::byte> come = range_of(slot, of, piece.target->range, &outcome);
  if (come.size() <= piece.offset) return outcome;
  std::memcpy(piece.target->to + piece.offset, come.data() + piece.offset,
              std::min<std::uint64_t>(piece.bytes, come.size() - piece.offset));
  return outcome;
}

// Sets the payloads of the first ranks, as many as there is room for. They must have the length of this rank's payload
// and, if asked for, be given by their address.
Outcome Operations::payloads_of(const Operation& operation, std::span<Slot::Part> payloads, bool by_address) {
  Outcome outcome = Outcome::good;
  for (std::uint32_t rank = 0; rank < payloads.size(); ++rank) {
    const Slot& slot = posting(rank, operation.sequence_).slot;
    if (slot.kind == Slot::Kind::failed) {
      outcome = Outcome::failed;
      continue;
    }
    const bool parts = slot.kind == Slot::Kind::parts || slot.kind == Slot::Kind::inline_parts;
    if (!parts) payloads[rank] = payload_for(rank_, slot);
    const bool right =
        !parts && payloads[rank].bytes == operation.payload.size() && (!by_address || slot.kind == Slot::Kind::address);
    if (!right) outcome = std::max(outcome, Outcome::truncated);
  }
  return outcome;
}

Outcome Operations::reduce_item(const Operation& operation, std::uint32_t of, std::uint64_t item) {
  using Shape = Operation::Shape;
  const Work& work = posting(of, operation.sequence_).work;
  std::array<Slot::Part, kMostRanks> payload_room;
  const std::span payloads = std::span(payload_room).first(ranks());
  const Outcome outcome = payloads_of(operation, payloads, true);
  if (outcome != Outcome::good) return outcome;

  const std::uint64_t most = result_item(operation);
  const std::uint64_t begin = work.offset + item * most;
  const std::uint64_t bytes = std::min(most, work.bytes - item * most);
  if (item * most >= work.bytes || begin + bytes > operation.payload.size()) return Outcome::truncated;

  std::array<std::byte*, kMostRanks> result_room;  // where the payload's first byte would have its result
  std::span results = std::span(result_room).first(ranks());
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    results[rank] = addresses_in(posting(rank, operation.sequence_).slot).out;
  }
  if (operation.shape == Shape::reduce) {
    results = results.subspan(operation.root, 1);
  } else if (operation.shape == Shape::reduce_scatter) {
    results = results.subspan(of, 1);
    if (results.front() != nullptr) results.front() -= work.offset;
  }
  // A rank without a result has called another operation.
  if (std::ranges::find(results, nullptr) != results.end()) return Outcome::truncated;
  if (operation.shape == Shape::scan || operation.shape == Shape::exscan) {
    scan_range(payloads, results, begin, bytes, *operation.reducer, operation.shape == Shape::exscan);
    return Outcome::good;
  }
  alignas(kLine) std::byte room[kPiece];
  const std::uint64_t piece = kPiece / operation.reducer->size * operation.reducer->size;
  for (std::uint64_t at = begin; at < begin + bytes; at += piece) {
    const std::uint64_t part = std::min(piece, begin + bytes - at);
    fold(payloads, at, room, part, *operation.reducer);
    for (std::byte* const result : results) std::memcpy(result + at, room, part);
  }
  return Outcome::good;
}

}  // namespace urakata::direct
