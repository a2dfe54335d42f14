// A text as a JSON string, with its quotes.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

namespace urakata {

inline std::string json_text(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += {'\\', letter};
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(letter));
      result += code.data();
    } else {
      result += letter;
    }
  }
  return result + "\"";
}

}  // namespace urakata
