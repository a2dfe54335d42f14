// SPDX-License-Identifier: BSD-3-Clause
// A number for a text: FNV-1a, 64 bits. The same in every process; not meant to withstand anybody.
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
