// The receiver's end of an edge.
#include <cstring>

#include "halo/edge.hpp"
#include "p2p/pieces.hpp"
#include "p2p/small_copy.hpp"

namespace urakata::halo {

Fit InEdge::join(OutEdge& edge) {
  out = &edge;
  sender = edge.sender;
  edge.fit = edge.bytes == bytes ? Fit::good : edge.bytes > bytes ? Fit::sender_longer : Fit::sender_shorter;
  edge.in = this;
  edge.receiver = receiver;
  edge.arrivals = arrivals;
  edge.landing = landing;
  edge.landing_room = landing_room;
  edge.target = target;
  edge.credit = one_way;
  edge.direct = direct;
  edge.pulled = pulls;
  edge.piece = piece;
  edge.whole = landing != nullptr || p2p::pieces_of(bytes, piece) == 1;
  return edge.fit;
}

void InEdge::begin(std::uint64_t k, std::byte* address, Counts& counts) {
  target.address = address;
  shared = false;
  if (!direct && !one_way) return;
  out->ready.target.store(address, std::memory_order_relaxed);
  // Release: what the program has read of its elements, and this rank of the turn before, comes before.
  out->ready.mark.store(k, std::memory_order_release);
  ++counts.ready_marks;
  // A payload that has a landing place and a free turn waits for nobody.
  if (one_way || landing == nullptr) sender->wake();
}

bool InEdge::news(std::uint64_t k) const {
  if (shared)
    return out->shares[k % 2].by_sender.load(std::memory_order_acquire) + own_pieces == p2p::pieces_of(bytes, piece);
  return arrivals[k % 2].mark.load(std::memory_order_acquire) >> kWayBits == k;
}

bool InEdge::take(std::uint64_t k, Counts& counts) {
  if (taken == k) return true;
  if (!shared) {
    const Arrival& arrival = arrivals[k % 2];
    const std::uint64_t mark = arrival.mark.load(std::memory_order_acquire);
    if (mark >> kWayBits != k) return false;
    switch (static_cast<Way>(mark & ((1U << kWayBits) - 1))) {
      case Way::in_line:
        if (target.shape == nullptr) {
          p2p::small_copy(target.address, arrival.payload, bytes);
        } else {
          p2p::move({const_cast<std::byte*>(arrival.payload), bytes, nullptr}, target, 0, bytes);
        }
        ++counts.unpacked;
        break;
      case Way::direct:
        break;
      case Way::landed:
        p2p::move({landing + k % 2 * landing_room, bytes, nullptr}, target, 0, bytes);
        ++counts.unpacked;
        break;
      case Way::offered:
        claim_pieces(k, counts);
        break;
    }
  }
  if (shared && !news(k)) return false;
  taken = k;
  return true;
}

bool InEdge::take_here(std::uint64_t k, Counts& counts) {
  if (taken == k) return true;
  const std::uint64_t mark = arrivals[k % 2].mark.load(std::memory_order_acquire);
  if (mark >> kWayBits != k) return false;
  if (static_cast<Way>(mark & ((1U << kWayBits) - 1)) != Way::offered) return take(k, counts);
  const std::uint64_t own = shared ? own_pieces : 0;
  return out->shares[k % 2].by_sender.load(std::memory_order_acquire) + own == p2p::pieces_of(bytes, piece);
}

void InEdge::claim_pieces(std::uint64_t k, Counts& counts) {
  shared = true;
  own_pieces = 0;
  // The address as it was offered: the sender may have done all pieces, and be at its next exchange.
  Elements source{nullptr, out->source.count, out->source.shape};
  std::memcpy(&source.address, arrivals[k % 2].payload, sizeof source.address);
  Share& share = out->shares[k % 2];
  const std::uint64_t pieces = p2p::pieces_of(bytes, piece);
  for (; share.claimed.fetch_add(1, std::memory_order_relaxed) < pieces; ++own_pieces) {
    const std::uint64_t at = own_pieces * piece;
    p2p::move(source, target, at, std::min(piece, bytes - at));
  }
  if (own_pieces == 0) return;
  counts.pieces_received += own_pieces;
  share.by_receiver.store(own_pieces, std::memory_order_release);
  sender->wake();
}

}  // namespace urakata::halo
