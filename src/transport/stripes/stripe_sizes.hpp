// SPDX-License-Identifier: BSD-3-Clause
// How transport `stripes` cuts messages, in bytes, and how a frame names a piece.
#pragma once

#include <cstdint>

namespace urakata::transport {

struct StripeSizes {
  static constexpr std::uint64_t kPush = 4UL * 1024 * 1024;      // what 1 Gb/s delivers in 32 ms: a round trip
  static constexpr std::uint64_t kMostKept = 8UL * 1024 * 1024;  // of a message
  static constexpr std::uint64_t kMostPiece = 64UL * 1024;
  static constexpr std::uint64_t kLeastPiece = 8UL * 1024;
  static constexpr std::uint64_t kPacket = 1400;         // least piece in a first flight: about one segment
  static constexpr std::uint64_t kFirstFlight = 14'000;  // 10 packets of 1448 bytes (RFC 6928), less the frames' heads

  // A frame has the lowest bits of a message's number, and in a piece's frame the offset stands above them.
  static constexpr unsigned kNumberBits = 20;
  static constexpr std::uint64_t kNumberMask = (1U << kNumberBits) - 1;
};

}  // namespace urakata::transport
