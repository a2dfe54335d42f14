// SPDX-License-Identifier: BSD-3-Clause
// The unexpected messages of an endpoint that are not in use. Those that once had a large eager payload keep the memory
// for one, and are kept apart.
//
// Thread-safety: under the endpoint's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "p2p/pool.hpp"
#include "p2p/unexpected.hpp"

namespace urakata::p2p {

class UnexpectedPool {
 public:
  // For a message of the space, with room for its payload if it is eager.
  Unexpected& take(const Envelope& envelope, Kind kind, std::uint32_t order, std::uint64_t bytes) {
    const bool large = kind == Kind::eager && bytes > Unexpected::kSmall;
    Unexpected& unexpected = large ? large_.take() : small_.take();
    unexpected.envelope = envelope;
    unexpected.kind = kind;
    unexpected.order = order;
    unexpected.bytes = bytes;
    if (large && unexpected.large == nullptr) unexpected.large = std::make_unique<std::byte[]>(kEager);
    return unexpected;
  }
  // For a message that has come by a link.
  Unexpected& take_link_message(const Envelope& envelope, Kind kind, std::uint64_t bytes, LinkPeer from) {
    Unexpected& unexpected = small_.take();
    unexpected.envelope = envelope;
    unexpected.kind = kind;
    unexpected.bytes = bytes;
    unexpected.peer = from;
    return unexpected;
  }
  void give(Unexpected& unexpected) { (unexpected.large != nullptr ? large_ : small_).give(unexpected); }

 private:
  Pool<Unexpected> small_;
  Pool<Unexpected> large_;
};

}  // namespace urakata::p2p
