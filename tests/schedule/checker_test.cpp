// SPDX-License-Identifier: BSD-3-Clause
// The checker on small schedules written by hand, each with one thing wrong.
#include "schedule/checker.hpp"

#include <gtest/gtest.h>

#include <string>

#include "schedule/draw.hpp"
#include "schedule/text.hpp"

namespace urakata::schedule {
namespace {

std::string rank(int r, const std::string& nodes) {
  return "schedule x ranks 2 rank " + std::to_string(r) + " buffers 2 {\n" + nodes + "}\n";
}

// Rank 0's 8 bytes of buffer 0 to rank 1's buffer 1.
Expectation hand_over() {
  Expectation expectation;
  expectation.ranks = {{.buffers = {{.end = 8, .writable = false}, {}}, .results = {}},
                       {.buffers = {{}, {.end = 8}}, .results = {{1, 0, 8, {{0, 0, 0}}}}}};
  return expectation;
}

std::string verdict(const std::string& first, const std::string& second, const Expectation& expectation = {}) {
  const auto schedules = from_text(rank(0, first) + rank(1, second));
  if (!schedules) return schedules.error().message;
  const auto proof = check(*schedules, expectation);
  return proof ? "" : proof.error().message;
}

TEST(Checker, ProvesAMessage) {
  EXPECT_EQ(verdict("node 0 send 8 to rank 1 from buffer 0 at 0\n", "node 0 recv 8 from rank 0 to buffer 1 at 0\n",
                    hand_over()),
            "");
}

TEST(Checker, FindsWrongBytes) {
  EXPECT_EQ(verdict("node 0 send 4 to rank 1 from buffer 0 at 0\nnode 1 send 4 to rank 1 from buffer 0 at 0 after 0\n",
                    "node 0 recv 2 x 4 from rank 0 to buffer 1 at 0\n", hand_over()),
            "schedule x, rank 1: byte 4 of buffer 1 ends as byte 0 of buffer 0 of rank 0 instead of byte 4 of buffer 0 "
            "of rank "
            "0");
}

TEST(Checker, FindsMessagesThatDoNotMeet) {
  EXPECT_EQ(verdict("node 0 send 8 to rank 1 from buffer 0 at 0\n", ""),
            "schedule x, rank 0, node 0 (send): no receive of rank 1 meets it");
  EXPECT_EQ(verdict("node 0 send 8 to rank 1 from buffer 0 at 0\n", "node 0 recv 4 from rank 0 to buffer 1 at 0\n"),
            "schedule x, rank 0, node 0 (send): sends 8 bytes, but node 0 of rank 1, which it meets, expects 4");
}

TEST(Checker, FindsDeadlock) {
  const auto exchange = [](int peer) {
    const std::string p = std::to_string(peer);
    return "node 0 send 8 to rank " + p + " from buffer 0 at 0\nnode 1 recv 8 from rank " + p +
           " to buffer 1 at 0 after 0\n";
  };
  EXPECT_NE(verdict(exchange(1), exchange(0)).find("deadlock"), std::string::npos);
}

TEST(Checker, FindsRaces) {
  EXPECT_NE(
      verdict("node 0 copy 8 from buffer 0 at 0 to buffer 1 at 0\nnode 1 copy 8 from buffer 1 at 4 to buffer 0 at 16\n",
              "")
          .find("reads buffer 1 from byte 4 on, and no edge orders it after node 0"),
      std::string::npos);
  EXPECT_EQ(verdict("temp 8\nnode 0 recv 9 x 8 from rank 1 to buffer 2 at 0 stride 8 wrap 1 window 1\n"
                    "node 1 copy 9 x 8 from buffer 2 at 0 stride 8 wrap 1 to buffer 1 at 0 each 0\n",
                    "node 0 send 9 x 8 to rank 0 from buffer 0 at 0\n")
                .find("schedule x, rank 0, node 0 (recv), iteration 1: writes buffer 2"),
            0u);
}

TEST(Checker, FindsUnorderedMessagesOfOneChannel) {
  EXPECT_NE(verdict("node 0 send 8 to rank 1 from buffer 0 at 0\nnode 1 send 8 to rank 1 from buffer 0 at 0\n",
                    "node 0 recv 2 x 8 from rank 0 to buffer 1 at 0\n")
                .find("no edge orders it after node 0"),
            std::string::npos);
}

TEST(Checker, FindsWritesToTheCallersInputAndBeyondItsBuffers) {
  EXPECT_NE(verdict("node 0 copy 4 from buffer 0 at 0 to buffer 0 at 4\n", "", hand_over()).find("the caller's input"),
            std::string::npos);
  EXPECT_NE(
      verdict("node 0 copy 4 from buffer 0 at 6 to buffer 1 at 0\n", "", hand_over()).find("reaches out of buffer 0"),
      std::string::npos);
}

TEST(Checker, FindsABarrierThatLetsGoTooEarly) {
  Expectation barrier;
  barrier.synchronising = true;
  EXPECT_EQ(
      verdict("node 0 send 0 to rank 1 from buffer 0 at 0\n", "node 0 recv 0 from rank 0 to buffer 0 at 0\n", barrier),
      "schedule x, rank 0: can finish before rank 1 has started");
}

TEST(Draw, HasABoxForEachNodeAndAnArrowForTheMessage) {
  const auto schedules = from_text(rank(0, "node 0 send 8 to rank 1 from buffer 0 at 0\n") +
                                   rank(1, "node 0 recv 8 from rank 0 to buffer 1 at 0\n"));
  const std::string svg = draw(*schedules, *check(*schedules, {}));
  EXPECT_NE(svg.find("0: send to 1"), std::string::npos);
  EXPECT_NE(svg.find("0: recv from 0"), std::string::npos);
  EXPECT_NE(svg.find("url(#m)"), std::string::npos);
}

}  // namespace
}  // namespace urakata::schedule
