// SPDX-License-Identifier: BSD-3-Clause
// The senders' ends of channels between nodes, and what all ends do after a failure.
#include <algorithm>
#include <utility>

#include "halo/far_channels.hpp"

namespace urakata::halo {

std::uint32_t FarChannels::add_out(std::int32_t rank, const Elements& source, std::uint64_t bytes) {
  Out& out = out_.emplace_back();
  out.peer = &peer(rank);
  out.bytes = bytes;
  out.source = source;
  if (source.shape != nullptr) out.packed.resize(std::min(bytes, transport::PutWire::kSlice));
  return static_cast<std::uint32_t>(out_.size() - 1);
}

// Invariant 2.
bool FarChannels::may_go(std::uint64_t k, const Out& out) const {
  if (!out.open.load(std::memory_order_acquire)) return false;
  if (out.asks) return out.peer->ready.load(std::memory_order_acquire) >= k;
  return !out.credit || k <= 2 || out.peer->ready.load(std::memory_order_acquire) >= k - 1;
}

bool FarChannels::begin_out(std::uint64_t k, std::uint32_t number, std::byte* address, Counts& counts) {
  Out& out = out_[number];
  out.source.address = address;
  out.at = 0;
  ++counts.put_frames;
  if (!may_go(k, out)) {
    ++counts.held;
    out.held.store(true, std::memory_order_relaxed);
    return false;
  }
  return advance(k, number, counts);
}

bool FarChannels::advance(std::uint64_t k, std::uint32_t number, Counts& counts) {
  Out& out = out_[number];
  if (!out.left.load(std::memory_order_acquire) || failed()) return false;
  if (out.at == 0) {
    if (!may_go(k, out)) return false;
    out.held.store(false, std::memory_order_relaxed);
  }
  while (out.at < out.bytes) {
    const std::uint64_t bytes = std::min(transport::PutWire::kSlice, out.bytes - out.at);
    const std::byte* payload = out.source.address + out.at;
    if (out.source.shape != nullptr) {
      p2p::pack(out.source, out.at, std::span(out.packed).first(bytes));
      payload = out.packed.data();
    }
    if (out.at != 0) ++counts.put_frames;
    out.at += bytes;
    out.left.store(false, std::memory_order_relaxed);  // ordered by the wire's lock
    const transport::Frame frame{.kind = transport::FrameKind::put,
                                 .tag = out.sink,
                                 .bytes = bytes,
                                 .id = std::uint64_t{out.in} << 32U | static_cast<std::uint32_t>(k)};
    if (!wire_.put(out.peer->rank, frame, payload, *this, number)) return false;
    out.left.store(true, std::memory_order_relaxed);
  }
  return true;
}

bool FarChannels::can_progress(std::uint64_t k, std::uint32_t number) const {
  const Out& out = out_[number];
  if (!out.left.load(std::memory_order_acquire)) return false;
  return out.at != 0 || may_go(k, out);
}

bool FarChannels::give_up() {
  wire_.give_up(*this);
  for (Peer& one : peers_) {
    const std::int32_t sink = one.sink.load(std::memory_order_relaxed);
    if (one.told || sink == kNone || one.lost.load(std::memory_order_acquire)) continue;
    one.told = true;
    wire_.put(one.rank, {.kind = transport::FrameKind::put_over, .tag = sink}, nullptr, *this, 0);
  }
  return std::ranges::all_of(peers_, [](const Peer& one) { return one.told || one.lost.load(); });
}

}  // namespace urakata::halo
