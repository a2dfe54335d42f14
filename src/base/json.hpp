// SPDX-License-Identifier: BSD-3-Clause
// Writes JSON: the little that report and programs need, without a library, since it goes into the preloaded library.
//
//     JsonWriter w;  w.object().key("rank").number(3).key("name").string("a\"b").end();  w.text() ==
//     R"({"rank":3,...})"
//
// Contract. Commas are the writer's business; that keys and values alternate inside objects is the caller's. Text is
// written as UTF-8; bytes that are none become U+FFFD. Not thread-safe.
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
  std::string closings_;  // of the objects and arrays open now
  bool first_ = true;     // nothing written yet in the innermost one
  bool after_key_ = false;
};

}  // namespace urakata
