// SPDX-License-Identifier: BSD-3-Clause
// The sender's end of a channel.
#include <algorithm>
#include <cstring>

#include "halo/channel.hpp"
#include "p2p/pieces.hpp"

namespace urakata::halo {

bool OutChannel::begin(std::uint64_t k, const std::byte* from, Counts& counts) {
  base = from;
  stage = Stage::held;
  const bool left = put(k, counts);
  if (!left && stage == Stage::held) ++counts.held;
  return left;
}

bool OutChannel::advance(std::uint64_t k, bool late, Counts& counts) {
  if (stage == Stage::held && put(k, counts)) return true;
  if (stage == Stage::rendezvous && (late || !pulls) && ready.flag.load(std::memory_order_acquire) >= k)
    share(k, counts);
  return copied(k);
}

bool OutChannel::copied(std::uint64_t k) const {
  return stage != Stage::held &&
         shares[k % 2].by_receiver.load(std::memory_order_acquire) + own_pieces == p2p::pieces_of(bytes, piece);
}

bool OutChannel::can_progress(std::uint64_t k) const {
  if (stage == Stage::held) return buffer_free(k);
  return (stage == Stage::rendezvous && ready.flag.load(std::memory_order_acquire) >= k) || copied(k);
}

// Invariant 2.
bool OutChannel::buffer_free(std::uint64_t k) const {
  return !one_way || k <= 2 || ready.flag.load(std::memory_order_acquire) >= k - 1;
}

// Returns whether the payload has left. If not, it is held, or a rendezvous has begun.
bool OutChannel::put(std::uint64_t k, Counts& counts) {
  if (direct && whole && !pulls && ready.flag.load(std::memory_order_acquire) >= k) {
    move(source, base, target, ready.target.load(std::memory_order_relaxed), 0, bytes);
    ++counts.direct;
    publish(k, PutKind::direct);
    return true;
  }
  if (!buffer_free(k)) return false;
  MailboxSlot& slot = mailbox[k % 2];
  if (bytes <= kInSlot) {
    pack(source, base, slot.payload);
    ++counts.in_slot;
    publish(k, PutKind::in_slot);
    return true;
  }
  if (bounce != nullptr) {
    pack(source, base, bounce + k % 2 * bounce_bytes);
    ++counts.bounced;
    publish(k, PutKind::bounced);
    return true;
  }
  Share& share = shares[k % 2];
  share.claimed.store(0, std::memory_order_relaxed);
  share.by_sender.store(0, std::memory_order_relaxed);
  share.by_receiver.store(0, std::memory_order_relaxed);
  own_pieces = 0;
  std::memcpy(slot.payload, &base, sizeof base);
  stage = Stage::rendezvous;
  ++counts.rendezvous;
  publish(k, PutKind::rendezvous);
  return false;
}

void OutChannel::publish(std::uint64_t k, PutKind kind) {
  mailbox[k % 2].flag.store(k << kPutKindBits | static_cast<std::uint64_t>(kind), std::memory_order_release);
  receiver->wake();
}

void OutChannel::share(std::uint64_t k, Counts& counts) {
  stage = Stage::shared;
  Share& share = shares[k % 2];
  std::byte* const to = ready.target.load(std::memory_order_relaxed);
  const std::uint64_t pieces = p2p::pieces_of(bytes, piece);
  for (std::uint64_t at = pieces * piece; share.claimed.fetch_add(1, std::memory_order_relaxed) < pieces;
       ++own_pieces) {
    at -= piece;
    move(source, base, target, to, at, std::min(piece, bytes - at));
  }
  if (own_pieces == 0) return;
  counts.pieces_sent += own_pieces;
  share.by_sender.store(own_pieces, std::memory_order_release);
  receiver->wake();
}

}  // namespace urakata::halo
