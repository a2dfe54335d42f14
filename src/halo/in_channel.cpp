// SPDX-License-Identifier: BSD-3-Clause
// The receiver's end of a channel.
#include <algorithm>
#include <cstring>

#include "halo/channel.hpp"
#include "p2p/pieces.hpp"

namespace urakata::halo {

Fit InChannel::join(const Segment& segment, OutChannel& channel, std::uint32_t number) {
  const std::uint64_t sent = channel.source[number].bytes;
  Fit& found = channel.fit[number];
  found = sent == segment.bytes ? Fit::good : sent > segment.bytes ? Fit::sender_longer : Fit::sender_shorter;
  if (channel.bytes != bytes || channel.source.size() != target.size()) {
    // Other segments do not fit, or the two ranks share channels differently. No exchange will begin.
    if (found == Fit::good) found = channel.bytes > bytes ? Fit::sender_longer : Fit::sender_shorter;
    return found;
  }
  target[number] = channel.target[number] = segment;
  if (number != 0) return found;
  out = &channel;
  sender = channel.sender;
  channel.in = this;
  channel.receiver = receiver;
  channel.mailbox = mailbox;
  channel.bounce = bounce;
  channel.bounce_bytes = bounce_bytes;
  channel.one_way = one_way;
  channel.direct = direct;
  channel.pulls = pulls;
  channel.piece = piece;
  channel.whole = bounce != nullptr || p2p::pieces_of(bytes, piece) == 1;
  return found;
}

void InChannel::begin(std::uint64_t k, std::byte* to, Counts& counts) {
  base = to;
  shared = false;
  if (!direct && !one_way) return;
  out->ready.target.store(base, std::memory_order_relaxed);
  // Release: the program's reads of its elements, and this rank's reads of the previous buffers, come before the flag.
  out->ready.flag.store(k, std::memory_order_release);
  ++counts.ready_flags;
  // A sender with a bounce buffer and no need of credit never waits for the flag.
  if (one_way || bounce == nullptr) sender->wake();
}

bool InChannel::can_progress(std::uint64_t k) const {
  if (shared)
    return out->shares[k % 2].by_sender.load(std::memory_order_acquire) + own_pieces == p2p::pieces_of(bytes, piece);
  return mailbox[k % 2].flag.load(std::memory_order_acquire) >> kPutKindBits == k;
}

bool InChannel::take(std::uint64_t k, Counts& counts) {
  if (taken == k) return true;
  if (!shared) {
    const MailboxSlot& slot = mailbox[k % 2];
    const std::uint64_t flag = slot.flag.load(std::memory_order_acquire);
    if (flag >> kPutKindBits != k) return false;
    switch (static_cast<PutKind>(flag & ((1U << kPutKindBits) - 1))) {
      case PutKind::in_slot:
        unpack(slot.payload, target, base);
        ++counts.unpacked;
        break;
      case PutKind::direct:
        break;
      case PutKind::bounced:
        unpack(bounce + k % 2 * bounce_bytes, target, base);
        ++counts.unpacked;
        break;
      case PutKind::rendezvous:
        claim_pieces(k, counts);
        break;
    }
  }
  if (shared && !can_progress(k)) return false;
  taken = k;
  return true;
}

bool InChannel::take_after_failure(std::uint64_t k, Counts& counts) {
  if (taken == k) return true;
  const std::uint64_t flag = mailbox[k % 2].flag.load(std::memory_order_acquire);
  if (flag >> kPutKindBits != k) return false;
  if (static_cast<PutKind>(flag & ((1U << kPutKindBits) - 1)) != PutKind::rendezvous) return take(k, counts);
  const std::uint64_t own = shared ? own_pieces : 0;
  return out->shares[k % 2].by_sender.load(std::memory_order_acquire) + own == p2p::pieces_of(bytes, piece);
}

void InChannel::claim_pieces(std::uint64_t k, Counts& counts) {
  shared = true;
  own_pieces = 0;
  // The RTS's copy of the address: the sender may have copied all pieces and begun its next exchange.
  const std::byte* from = nullptr;
  std::memcpy(&from, mailbox[k % 2].payload, sizeof from);
  Share& share = out->shares[k % 2];
  const std::uint64_t pieces = p2p::pieces_of(bytes, piece);
  for (; share.claimed.fetch_add(1, std::memory_order_relaxed) < pieces; ++own_pieces) {
    const std::uint64_t at = own_pieces * piece;
    move(out->source, from, target, base, at, std::min(piece, bytes - at));
  }
  if (own_pieces == 0) return;
  counts.pieces_received += own_pieces;
  share.by_receiver.store(own_pieces, std::memory_order_release);
  sender->wake();
}

}  // namespace urakata::halo
