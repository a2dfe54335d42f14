// SPDX-License-Identifier: BSD-3-Clause
// What follows the frames of the link by transport `wire`, and how they hold an envelope.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "p2p/link.hpp"
#include "transport/wire/frame.hpp"

namespace urakata::transport {

struct Rendezvous {  // follows an RTS (the send) and a CTS (the receive)
  std::uint64_t bytes;
  p2p::LinkTicket ticket;
};

struct RendezvousAhead {  // follows an RTS whose payload is on its way
  Rendezvous of;
  std::uint64_t order;  // of LinkStripes
};

template <class Tail>
std::span<const std::byte> bytes_of(const Tail& tail) {
  return std::as_bytes(std::span(&tail, 1));
}

inline Frame frame_of(FrameKind kind, const p2p::Envelope& envelope, std::uint64_t bytes) {
  const std::uint64_t source = static_cast<std::uint32_t>(envelope.source);
  return {.kind = kind, .tag = envelope.tag, .bytes = bytes, .id = std::uint64_t{envelope.context} << 32 | source};
}

inline p2p::Envelope envelope_of(const Frame& frame) {
  return {static_cast<std::uint32_t>(frame.id >> 32), static_cast<std::int32_t>(static_cast<std::uint32_t>(frame.id)),
          frame.tag};
}

}  // namespace urakata::transport
