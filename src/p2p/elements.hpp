// SPDX-License-Identifier: BSD-3-Clause
// Elements: where a payload lies, in a form that every rank of the space may work from. And the one loop that moves a
// piece of payload from one rank's elements to another's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "layout/shape.hpp"

namespace urakata::p2p {

struct Elements {
  std::byte* address = nullptr;
  std::uint64_t count = 0;
  const layout::Shape* shape = nullptr;  // nullptr: `count` plain bytes
};

// Payload bytes [at, at + bytes) of `from` become those of `to`. With no buffer in between; does not allocate, lock,
// call the system or set errno, so that any rank may do it to any other's elements, and several may do different pieces
// at once.
void move(const Elements& from, const Elements& to, std::uint64_t at, std::uint64_t bytes);

// Payload bytes [at, at + packed.size()) of the elements, to or from contiguous memory. As move(), neither function
// allocates, locks, calls the system or sets errno.
void pack(const Elements& from, std::uint64_t at, std::span<std::byte> packed);
void unpack(std::span<const std::byte> packed, const Elements& to, std::uint64_t at);

// As pack(), to memory whose lines another core has and will read: kAcrossLeast bytes and more are gathered in this
// core's own cache and go from there by stores that do not fetch those lines first, where the processor has such.
inline constexpr std::uint64_t kAcrossLeast = 1024;
void pack_across(const Elements& from, std::uint64_t at, std::span<std::byte> packed);

}  // namespace urakata::p2p
