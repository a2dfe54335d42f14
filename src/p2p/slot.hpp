// SPDX-License-Identifier: BSD-3-Clause
// A slot: one cache line of an inbox, and what a message looks like in it.
//
//     first slot    stamp | kind, slots, bytes | order | context | source | tag | 40 bytes of payload, or an RTS
//     further slot  stamp | 60 bytes of payload
//
// A slot is filled when its stamp is that of the receiver's present sequence around the inbox. The stamp of a message's
// first slot is stored last, with release order, so that one load with acquire order makes the whole message visible.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace urakata::p2p {

inline constexpr std::size_t kLine = 64;
inline constexpr std::uint64_t kEager = 256;  // payload bytes of the largest eager message of a space

struct Request;
class Port;

// What matching compares: communicator, sender and tag of a message. `source` and `tag` of a pattern may be wildcards.
struct Envelope {
  std::uint32_t context = 0;  // number of the communicator
  std::int32_t source = 0;    // rank of the sender in it
  std::int32_t tag = 0;
  bool operator==(const Envelope&) const = default;
};
inline constexpr std::int32_t kAnySource = -1;
inline constexpr std::int32_t kAnyTag = -1;

inline bool matches(const Envelope& pattern, const Envelope& message) {
  return pattern.context == message.context && (pattern.tag == message.tag || pattern.tag == kAnyTag) &&
         (pattern.source == message.source || pattern.source == kAnySource);
}

// How the payload of a rendezvous lies at the sender.
enum class Form : std::uint8_t {
  plain,    // as bytes at `address`
  packing,  // as plain, the first Request::ready of them; the sender is about to put the others there
  shaped,   // as Request::source says
};

// A rendezvous: the payload stays at the sender until the receiver has copied it and stores `finished` in `request`.
struct Rts {
  Request* request = nullptr;  // the sender's; valid until its `finished` is stored
  Port* sender = nullptr;      // the sender's port, woken after that store
  std::byte* address = nullptr;
  std::uint64_t bytes = 0;
  Form form = Form::plain;
  bool movable = false;     // as in the request
  bool unassisted = false;  // as in the request
  bool pairs = false;       // whether Request::end asks for a matched persistent pair (pair.hpp)
};

// A sender numbers what it hands on, to whomever it goes: of two numbers of one sender the older is the one that is
// behind.
inline bool older(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

// Slots have the first two kinds. Messages that have come by a link have the last two.
enum class Kind : std::uint8_t { eager, rendezvous, link_eager, link_rts };

struct alignas(kLine) Slot {
  static constexpr std::size_t kPayload = 40;  // bytes in the first slot
  static constexpr std::size_t kFurther = 60;  // bytes in each further slot

  struct First {
    // One word, since a store of its parts would be several: kind, slots of this message, payload bytes of an eager
    // one.
    std::uint32_t head;
    std::uint32_t order;  // see older()
    Envelope envelope;
    std::byte payload[kPayload];

    static std::uint32_t head_of(Kind kind, std::uint32_t slots, std::size_t bytes) {
      return static_cast<std::uint32_t>(kind) | slots << 8U | static_cast<std::uint32_t>(bytes) << 16U;
    }
    Kind kind() const { return static_cast<Kind>(head & 0xffU); }
    std::uint32_t slots() const { return head >> 8U & 0xffU; }
    std::uint32_t bytes() const { return head >> 16U; }
  };

  Slot() : further{} {}

  std::atomic<std::uint32_t> stamp{0};
  union {
    std::byte further[kFurther];
    First first;
  };
};
static_assert(sizeof(Slot) == kLine);
static_assert(sizeof(Rts) <= Slot::kPayload);

// Slots that an eager message of `bytes` takes.
constexpr std::uint32_t slots_for(std::size_t bytes) {
  return bytes <= Slot::kPayload
             ? 1
             : 1 + static_cast<std::uint32_t>((bytes - Slot::kPayload + Slot::kFurther - 1) / Slot::kFurther);
}

}  // namespace urakata::p2p
