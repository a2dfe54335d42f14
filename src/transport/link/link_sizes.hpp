// SPDX-License-Identifier: BSD-3-Clause
// Bounds of the link by transport `wire`, in bytes.
#pragma once

#include <cstdint>

namespace urakata::transport {

struct LinkSizes {
  static constexpr std::uint64_t kFrame = 256;  // about what an endpoint needs to keep an unexpected message
  static constexpr std::uint64_t kPiece = 256UL << 10;
  static constexpr std::uint64_t kAhead = 8UL << 20;          // of a peer, here, that nobody has received
  static constexpr std::uint64_t kLeastSpread = 256UL << 10;  // of a payload
};

}  // namespace urakata::transport
