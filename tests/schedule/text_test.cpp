// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/text.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "same.hpp"
#include "schedule/builder.hpp"

namespace urakata::schedule {
namespace {

// Rank 1 of 3 of a reduction along a chain, 1000 bytes in pieces of 64 through a ring of 8 buffers.
Schedule pipeline() {
  Builder b("reduce/chain", 3, 1);
  const Chunks chunks = cut(1000, 64);
  const BufferId ring = b.temp(8 * 64);
  const BufferId sum = b.temp(1000);
  const NodeId own = b.copy({.buffer = kSendBuffer}, {.buffer = sum}, 1000);
  const NodeId in = b.recv(2, {.buffer = ring, .wrap = 8}, chunks, {.window = 4, .channel = 7});
  const NodeId add = b.reduce({.buffer = ring, .wrap = 8}, {.buffer = sum}, chunks);
  const NodeId out = b.send(0, {.buffer = sum}, chunks, {.window = 2});
  b.after(own, add);
  b.each(in, add);
  b.each(add, in, 8);
  b.each(add, out);
  return *b.commit();
}

std::string error_of(const std::string& text) {
  const auto schedules = from_text(text);
  return schedules ? "no error" : schedules.error().message;
}

std::string body(const std::string& lines) { return "schedule x ranks 4 rank 0 buffers 2 {\n" + lines + "}\n"; }

TEST(Text, WritesWhatTheGoldenFileSays) {
  std::ifstream file(GOLDEN_FOLDER "/reduce-chain.txt");
  ASSERT_TRUE(file.good());
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(to_text(pipeline()), golden.str());
}

TEST(Text, ReadsBackTheSame) {
  std::vector<Schedule> all;
  all.push_back(pipeline());
  all.push_back(*Builder("an empty \"one\"\\\n#\x01", 1, 0, 5).commit());
  Builder odd("odd", 2, 1);
  odd.send(0, {.buffer = 1, .wrap = 3, .offset = -8, .stride = -16}, {.count = 7, .bytes = 16, .last_bytes = 0},
           {.window = 64, .channel = 255});
  odd.recv(0, {.buffer = 0, .offset = 4}, {.count = 1, .bytes = 9, .last_bytes = 3}, {.window = 2});
  odd.copy({}, {.buffer = 1}, 0);
  all.push_back(*odd.commit());
  const std::string text = to_text(all);
  const auto again = from_text(text);
  ASSERT_TRUE(again.ok()) << again.error().message << "\n" << text;
  ASSERT_EQ(again->size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(same(all[i], (*again)[i])) << to_text(all[i]);
  EXPECT_EQ(to_text(*again), text);
}

TEST(Text, TakesCommentsEmptyLinesAndAnyIndentation) {
  const auto schedules = from_text("# two\n\n" + body("\t node 0 send 8 to rank 1 from buffer 0 at 0# why\r\n") +
                                   "schedule y ranks 1 rank 0 buffers 0 {\n}");
  ASSERT_TRUE(schedules.ok()) << schedules.error().message;
  ASSERT_EQ(schedules->size(), 2u);
  EXPECT_EQ((*schedules)[0].nodes()[0].bytes, 8u);
  EXPECT_TRUE(from_text("")->empty());
}

struct Bad {
  const char* text;
  const char* error;
};

class BadBody : public ::testing::TestWithParam<Bad> {};

TEST_P(BadBody, NamesLineAndNode) { EXPECT_EQ(error_of(body(GetParam().text)), GetParam().error); }

constexpr Bad kBad[] = {
    {"node 0 copy 8 from buffer 0 at 0 to buffer 1 at 0 after 1\nnode 1 copy 8 from buffer 0 at 0 to buffer 1 at 0 "
     "after 0\n",
     "line 2, node 0: waits for itself: 0 -> 1 -> 0"},
    {"node 0 copy 8 from buffer 0 at 0 to buffer 1 at 0 each 0\n", "line 2, node 0: waits for itself: 0 -> 0"},
    {"node 0 copy 8 from buffer 0 at 0 to buffer 1 at 0 after 3\n",
     "line 2, node 0: waits for node 3, which does not exist"},
    {"node 0 copy 8 from buffer 0 at 0 to buffer 1 at 0\n\nnode 1 copy 2 x 8 from buffer 0 at 0 to buffer 1 at 0 each "
     "0\n",
     "line 4, node 1: waits for each iteration of node 0, which has too few"},
    {"node 0 copy 8 from buffer 0 at 0 to buffer 2 at 0\n",
     "line 2, node 0: buffer 2 does not exist; there are 2 (0..1)"},
    {"temp 64\nnode 0 copy 8 from buffer 0 at 0 to buffer 2 at 60\n",
     "line 3, node 0: reaches out of buffer 2 of 64 bytes"},
    {"temp 64\nnode 0 copy 9 x 8 from buffer 0 at 0 to buffer 2 at 0\n",
     "line 3, node 0: reaches out of buffer 2 of 64 bytes"},
    {"temp 64\nnode 0 copy 2 x 8 from buffer 0 at 0 to buffer 2 at 0 stride -8\n",
     "line 3, node 0: reaches out of buffer 2 of 64 bytes"},
    {"node 0 copy 9 x 8 from buffer 0 at 0 stride 9000000000000000000 to buffer 1 at 0\n",
     "line 2, node 0: reaches out of buffer 0, further than 63 bits count"},
    {"node 0 send 8 to rank 4 from buffer 0 at 0\n", "line 2, node 0: peer 4 is not one of 4 ranks"},
    {"node 0 recv 8 from rank 0 to buffer 0 at 0\n", "line 2, node 0: peer 0 is the own rank; use copy"},
    {"node 0 send 8 to rank -1 from buffer 0 at 0\n", "line 2, node 0: expected a number (peer), found '-1'"},
    {"node 0 shift 8\n", "line 2, node 0: unknown kind of node 'shift'; there are send, recv, copy, reduce"},
    {"node 0 send 8 to rank 1 from buffer 0 at 0 before 3\n", "line 2, node 0: unknown keyword 'before'"},
    {"edge 0 1\n", "line 2: unknown keyword 'edge'; expected node, temp or }"},
    {"node 1 send 8 to rank 1 from buffer 0 at 0\n", "line 2, node 1: nodes are numbered in order; expected 0"},
    {"node 0 send 99999999999999999999 to rank 1 from buffer 0 at 0\n",
     "line 2, node 0: bytes '99999999999999999999' is not in 0..18446744073709551615"},
    {"node 0 send 0 x 8 to rank 1 from buffer 0 at 0\n", "line 2, node 0: iterations out of range"},
    {"node 0 send 8 last 9 to rank 1 from buffer 0 at 0\n", "line 2, node 0: last '9' is not in 0..8"},
    {"node 0 send 8 to rank 1 from buffer 0 at 0 window 65\n", "line 2, node 0: window '65' is not in 1..64"},
    {"node 0 send 8 to rank 1 from buffer 0 at 0 channel 256\n", "line 2, node 0: channel '256' is not in 0..255"},
    {"node 0 send 8 to rank 1 from buffer 0\n", "line 2, node 0: expected 'at', found the end of the line"},
    {"node 0 send 8 to rank 1 from buffer 0 at 0\ntemp 8\n", "line 3: temp must stand before the first node"},
};
INSTANTIATE_TEST_SUITE_P(Text, BadBody, ::testing::ValuesIn(kBad));

TEST(Text, RefusesBadHeaders) {
  EXPECT_EQ(error_of("schedule x ranks 4 rank 4 buffers 2 {\n}\n"), "line 1: rank '4' is not in 0..3");
  EXPECT_EQ(error_of("schedule x ranks 0 rank 0 buffers 2 {\n}\n"), "line 1: ranks '0' is not in 1..2147483647");
  EXPECT_EQ(error_of("node 0 copy\n"), "line 1: expected 'schedule', found 'node'");
  EXPECT_EQ(error_of("schedule \"x ranks 4 rank 0 buffers 2 {\n}"), "line 1: the name's closing quote is missing");
  EXPECT_EQ(error_of("\nschedule x ranks 4 rank 0 buffers 2 {\n"), "line 2: the schedule's closing } is missing");
}

}  // namespace
}  // namespace urakata::schedule
