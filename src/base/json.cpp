// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <charconv>
#include <cmath>

namespace urakata {
namespace {

// Length of the UTF-8 sequence that `text` begins with; 0: none is valid (RFC 3629: no overlong forms, no surrogates).
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned b = byte(0);
  if (b < 0x80) return 1;
  if (b >= 0xc2 && b < 0xe0) return tail(1) ? 2 : 0;
  if (b >= 0xe0 && b < 0xf0) {
    const bool good = !(b == 0xe0 && byte(1) < 0xa0) && !(b == 0xed && byte(1) >= 0xa0);
    return good && tail(1) && tail(2) ? 3 : 0;
  }
  if (b >= 0xf0 && b < 0xf5) {
    const bool good = !(b == 0xf0 && byte(1) < 0x90) && !(b == 0xf4 && byte(1) >= 0x90);
    return good && tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

template <class T>
void append(std::string& text, T value) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  text.append(digits, end.ptr);
}

}  // namespace

JsonWriter& JsonWriter::open(char opening, char closing) {
  separate();
  text_ += opening;
  closings_ += closing;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end() {
  text_ += closings_.back();
  closings_.pop_back();
  first_ = false;
  return *this;
}

void JsonWriter::separate() {
  if (!first_ && !after_key_) text_ += ',';
  first_ = false;
  after_key_ = false;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view value) {
  separate();
  quote(value);
  return *this;
}

JsonWriter& JsonWriter::number(std::uint64_t value) {
  separate();
  append(text_, value);
  return *this;
}

JsonWriter& JsonWriter::signed_number(std::int64_t value) {
  separate();
  append(text_, value);
  return *this;
}

JsonWriter& JsonWriter::real(double value) {
  separate();
  if (std::isfinite(value)) {
    append(text_, value);
  } else {
    text_ += "null";
  }
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  text_ += value ? "true" : "false";
  return *this;
}

void JsonWriter::quote(std::string_view value) {
  static constexpr char kHex[] = "0123456789abcdef";
  text_ += '"';
  while (!value.empty()) {
    const std::size_t length = sequence(value);
    const auto c = static_cast<unsigned char>(value[0]);
    if (length == 0) {
      text_ += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += value[0];
    } else if (c < 0x20) {
      text_ += "\\u00";
      text_ += kHex[c >> 4];
      text_ += kHex[c & 15];
    } else {
      text_ += value.substr(0, length);
    }
    value.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

}  // namespace urakata
