// SPDX-License-Identifier: BSD-3-Clause
// 50 000 texts made of a good one by random changes of bytes and words: each is refused with its line or reads back the
// same. Fixed seed.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "../fuzz/text_round_trip.hpp"

namespace urakata::schedule {
namespace {

TEST(TextMutation, IsRefusedWithALineOrReadsBackTheSame) {
  std::stringstream golden;
  golden << std::ifstream(GOLDEN_FOLDER "/reduce-chain.txt").rdbuf();
  const std::string good = golden.str();
  ASSERT_NE(good, "");
  ASSERT_EQ(round_trip(good), "");
  const char* words[] = {" after 1", " each 2 distance 3",
                         "node 1 ",  "0",
                         "-1",       "18446744073709551615",
                         "{",        "}\n",
                         "\n",       "\"",
                         " wrap 3",  "9 x ",
                         "\\x",      "# ",
                         "\0"};
  std::mt19937_64 random(20);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  int read = 0;
  for (int turn = 0; turn < 50'000; ++turn) {
    std::string text = good;
    for (std::size_t changes = 1 + below(3); changes > 0 && !text.empty(); --changes) {
      const std::size_t at = below(text.size());
      switch (below(5)) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text[at] = static_cast<char>('0' + below(10));
          break;
        case 2:
          text.erase(at, 1 + below(20));
          break;
        case 3:
          text.insert(at, words[below(std::size(words))]);
          break;
        default:
          text.insert(at, text.substr(below(text.size()), below(60)));
      }
    }
    if (from_text(text).ok()) ++read;
    ASSERT_EQ(round_trip(text), "") << text;
  }
  EXPECT_GT(read, 500);  // not all of them are nonsense
}

}  // namespace
}  // namespace urakata::schedule
