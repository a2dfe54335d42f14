// SPDX-License-Identifier: BSD-3-Clause
// Schedules with many buffers: two values pass through temporaries whose numbers differ by 65 536.
#include <gtest/gtest.h>

#include "same.hpp"
#include "schedule/builder.hpp"
#include "schedule/checker.hpp"
#include "schedule/text.hpp"

namespace urakata::schedule {
namespace {

Schedule with_many() {
  Builder b("many", 1, 0);
  const BufferId first = b.temp(4);
  for (int i = 1; i < 0x10000; ++i) b.temp(4);
  const BufferId other = b.temp(4);
  EXPECT_EQ(other, first + 0x10000);
  const NodeId in = b.copy({.buffer = kSendBuffer}, {.buffer = first}, 4);
  const NodeId in_other = b.copy({.buffer = kSendBuffer, .offset = 4}, {.buffer = other}, 4);
  const NodeId out = b.copy({.buffer = first}, {.buffer = kRecvBuffer}, 4);
  const NodeId out_other = b.copy({.buffer = other}, {.buffer = kRecvBuffer, .offset = 4}, 4);
  b.after(in, in_other);
  b.after(in, out);
  b.after(in_other, out);
  b.after(in_other, out_other);
  return *b.commit();
}

TEST(Buffers, ManyAreProvedRight) {
  Expectation expectation;
  expectation.ranks = {{.buffers = {{.end = 8, .writable = false}, {.end = 8}}, .results = {{1, 0, 8, {{0, 0, 0}}}}}};
  const auto proof = check({{with_many()}}, expectation);
  EXPECT_TRUE(proof.ok()) << proof.error().message;
}

TEST(Buffers, ManyAreWrittenAndReadAsText) {
  const Schedule schedule = with_many();
  const auto again = from_text(to_text(schedule));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(same(schedule, again->front()));
}

TEST(Buffers, MoreThanThereCanBeAreAnError) {
  Builder b("too many", 1, 0);
  for (BufferId i = kUserBuffers; i < kMaxBuffers; ++i) b.temp(0);
  b.temp(0);
  const auto built = b.commit();
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().message, "schedule too many, rank 0: 16777217 buffers; there can be 16777216");
  EXPECT_TRUE(from_text("schedule x ranks 1 rank 0 buffers 65535 {\n}").ok());
  EXPECT_FALSE(from_text("schedule x ranks 1 rank 0 buffers 65536 {\n}").ok());
}

}  // namespace
}  // namespace urakata::schedule
