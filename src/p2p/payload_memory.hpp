// SPDX-License-Identifier: BSD-3-Clause
// The memory of an endpoint for payloads that are not where the program has them: packed ones, copies that are aside,
// and those that only a layout can unpack. Also moves payloads into and out of it.
//
// Functions that take memory throw std::bad_alloc, unless they say otherwise.
//
// Thread-safety: under the endpoint's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "p2p/open_message.hpp"
#include "p2p/spare.hpp"

namespace urakata::p2p {

class PayloadMemory {
 public:
  static constexpr std::uint64_t kMostAside = Spare::kKept;  // bytes that are copied aside in exchanges, at a time

  Block take(std::uint64_t bytes) { return spare_.take(bytes); }
  void give(Block block) { spare_.give(std::move(block)); }
  // Takes back the memory that a request which is over has of this object.
  void give_of(Request& request) {
    if (std::exchange(request.unassisted, false)) aside_ -= request.source.count;
    if (request.packed.room != 0) give(std::exchange(request.packed, {}));
  }

  // The payload of the send lies in a block of its own, or soon will: `source` says where.
  void set_packed(Request& send);
  // Packs the payload of the send.
  void pack(Request& send);

  // Whether `bytes` more bytes may be copied aside.
  bool room_aside(std::uint64_t bytes) const { return aside_ + bytes <= kMostAside; }
  // Packs the payload of a send of an exchange (Request::unassisted).
  void copy_aside(Request& send);

  // Copies the payload into the receive's elements, as much of it as the receive's result says. Without memory for it
  // the receive fails.
  void copy_in(Request& receive, const Elements& from);
  // Copies as much of an eager payload as the receive has room for, and sets its result.
  void store(Request& receive, std::byte* payload, std::uint64_t bytes);

 private:
  Spare spare_;
  std::uint64_t aside_ = 0;  // bytes of all sends that are `unassisted`
};

}  // namespace urakata::p2p
