// SPDX-License-Identifier: BSD-3-Clause
// Texts of any bytes become valid JSON, and commas stand where they belong.
#include "base/json.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace urakata {
namespace {

std::string quoted(std::string_view text) { return JsonWriter().string(text).text(); }

TEST(JsonWriter, EscapesWhatJsonForbids) {
  EXPECT_EQ(quoted("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
  EXPECT_EQ(quoted("h\xc3\xb6her \xe8\xa3\x8f \xf0\x9f\x8e\xad"), "\"h\xc3\xb6her \xe8\xa3\x8f \xf0\x9f\x8e\xad\"");
}

TEST(JsonWriter, BytesThatAreNoUtf8BecomeReplacementCharacters) {
  EXPECT_EQ(quoted("\xff"), R"("\ufffd")");
  EXPECT_EQ(quoted("\xc3"), R"("\ufffd")");                      // cut short
  EXPECT_EQ(quoted("\xc0\xaf"), R"("\ufffd\ufffd")");            // overlong
  EXPECT_EQ(quoted("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");  // surrogate
}

TEST(JsonWriter, SetsCommas) {
  JsonWriter json;
  json.object().key("a").number(1).key("b").array().number(2).real(0.5).boolean(true).object().end().end();
  json.key("c").signed_number(-3).key("d").real(std::numeric_limits<double>::infinity()).end();
  EXPECT_EQ(json.text(), R"({"a":1,"b":[2,0.5,true,{}],"c":-3,"d":null})");
}

}  // namespace
}  // namespace urakata
