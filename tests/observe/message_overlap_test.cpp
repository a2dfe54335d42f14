// SPDX-License-Identifier: BSD-3-Clause
// A message of 100 bytes whose transfer lives from 20 to 60, begun at 10; the program is away from 15 to 40: 20 of the
// 40 lie in the gap, and what is hidden is bounded by what was moved there.
#include "observe/message_overlap.hpp"

#include <gtest/gtest.h>

namespace urakata::observe {
namespace {

class MessageOverlaps : public ::testing::Test {
 protected:
  MessageSite site_{{.operation = "Isend", .carrier = "wire"}, 0};
  MessageOverlap overlap_;

  void expect(std::uint64_t life, std::uint64_t gap, std::uint64_t overlapped) {
    EXPECT_EQ(site_.timed, 1U);
    EXPECT_EQ(site_.life_ns, life);
    EXPECT_EQ(site_.gap_ns, gap);
    EXPECT_EQ(site_.overlapped_ns, overlapped);
  }
};

TEST_F(MessageOverlaps, WhatWasMovedInTheGapIsOverlapped) {
  overlap_.left(15, {});
  overlap_.entered(40, {.met = 20, .bytes = 100, .moved = 45});
  overlap_.ended(site_, {.met = 20, .over = 60, .bytes = 100, .moved = 100});
  expect(40, 20, 18);
}

TEST_F(MessageOverlaps, NeverMoreThanTheGapAllows) {
  overlap_.left(15, {});
  overlap_.entered(40, {.met = 20, .bytes = 100, .moved = 90});
  overlap_.ended(site_, {.met = 20, .over = 60, .bytes = 100, .moved = 100});
  expect(40, 20, 20);
}

TEST_F(MessageOverlaps, WhereNothingMovedInTheGapNothingIsOverlapped) {
  overlap_.left(15, {});
  overlap_.entered(40, {.met = 20, .bytes = 100});
  overlap_.ended(site_, {.met = 20, .over = 60, .bytes = 100, .moved = 100});
  expect(40, 20, 0);
}

TEST_F(MessageOverlaps, AllOfItIsWhereItWasOverBeforeTheWait) {
  overlap_.left(15, {});
  overlap_.entered(1000, {.met = 20, .over = 60, .bytes = 100, .moved = 100});
  overlap_.ended(site_, {.met = 20, .over = 60, .bytes = 100, .moved = 100});
  expect(40, 40, 40);
}

TEST_F(MessageOverlaps, NoneOfItWhereItBeganInTheWait) {
  overlap_.left(15, {});
  overlap_.entered(40, {});
  overlap_.ended(site_, {.met = 50, .over = 90, .bytes = 100, .moved = 100});
  expect(40, 0, 0);
}

// 10 bytes and 10 of the life in the test from 30 to 40; a second gap from 40 to 50.
TEST_F(MessageOverlaps, TestsAreNoGap) {
  overlap_.left(15, {});
  overlap_.entered(30, {.met = 20, .bytes = 100, .moved = 25});
  overlap_.left(40, {.met = 20, .bytes = 100, .moved = 35});
  overlap_.entered(50, {.met = 20, .bytes = 100, .moved = 60});
  overlap_.ended(site_, {.met = 20, .over = 60, .bytes = 100, .moved = 100});
  expect(40, 20, 20);
}

TEST_F(MessageOverlaps, WithoutATransferNothingIsKnown) {
  overlap_.left(15, {});
  overlap_.entered(40, {});
  overlap_.ended(site_, {});                                      // it came with its envelope
  overlap_.ended(site_, {.met = 20, .bytes = 100, .moved = 10});  // it was lost on its way
  EXPECT_EQ(site_.timed, 0U);
}

}  // namespace
}  // namespace urakata::observe
