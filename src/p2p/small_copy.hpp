// SPDX-License-Identifier: BSD-3-Clause
// Copies of a few bytes without a call: a call to memcpy is a good part of a small message's way.
#pragma once

#include <cstddef>
#include <cstring>

namespace urakata::p2p {

template <std::size_t kWidth>
inline void copy_ends(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::byte head[kWidth];
  std::byte tail[kWidth];
  std::memcpy(head, from, kWidth);
  std::memcpy(tail, from + bytes - kWidth, kWidth);
  std::memcpy(to, head, kWidth);
  std::memcpy(to + bytes - kWidth, tail, kWidth);
}

// Copies any number of bytes, up to 64 without a call. The memory must not overlap.
inline void small_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else if (bytes > 64) {
    std::memcpy(to, from, bytes);
  } else if (bytes > 32) {
    copy_ends<32>(to, from, bytes);
  } else if (bytes >= 16) {
    copy_ends<16>(to, from, bytes);
  } else if (bytes >= 8) {
    copy_ends<8>(to, from, bytes);
  } else if (bytes >= 4) {
    copy_ends<4>(to, from, bytes);
  } else {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

}  // namespace urakata::p2p
