// SPDX-License-Identifier: BSD-3-Clause
// Writes JSON. It has only what reports and Urakata's programs need, since it goes into the preloaded library.
//
//     JsonWriter w;  w.object().key("rank").number(3).key("name").string("a\"b").end();  w.text() ==
//     R"({"rank":3,...})"
//
// Contract. The writer sets the commas. The caller alternates keys and values inside objects, and ends each object and
// array. Text is taken as UTF-8; each byte that is not valid UTF-8 becomes U+FFFD. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace urakata {

class JsonWriter {
 public:
  JsonWriter& object() { return open('{', '}'); }
  JsonWriter& array() { return open('[', ']'); }
  JsonWriter& end();

  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view value);
  JsonWriter& number(std::uint64_t value);
  JsonWriter& signed_number(std::int64_t value);
  JsonWriter& real(double value);  // not finite: null
  JsonWriter& boolean(bool value);

  const std::string& text() const { return text_; }

 private:
  JsonWriter& open(char opening, char closing);
  void separate();
  void quote(std::string_view value);

  std::string text_;
  std::string closings_;  // closing brackets of the open objects and arrays, innermost last
  bool first_ = true;     // whether the innermost of them is still empty
  bool after_key_ = false;
};

}  // namespace urakata
