// SPDX-License-Identifier: BSD-3-Clause
// A hash of a text: FNV-1a, 64 bits. Equal in every process; not safe against chosen texts.
#pragma once

#include <cstdint>
#include <string_view>

namespace urakata {

inline std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char letter : text) value = (value ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return value;
}

}  // namespace urakata
