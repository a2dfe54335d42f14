// SPDX-License-Identifier: BSD-3-Clause
// A context's stream is 1, then 2 after its context was made anew. No stream is left that nobody uses.
#include "device/streams.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace urakata::device {
namespace {

class StreamsTest : public testing::Test {
 protected:
  static constexpr int kFailure = 700;

  // One copy, which fails on a stream whose context is gone, and on all streams if it is `wrong`.
  int copy(bool wrong = false) {
    return streams_.with(
        7,
        [this](void** stream) {
          *stream = &places_[made_++];
          open_.insert(*stream);
          return 0;
        },
        [&](void* stream) {
          used_.push_back(stream);
          return wrong || !open_.contains(stream) ? kFailure : 0;
        },
        [this](void* stream) { EXPECT_EQ(open_.erase(stream), 1U); });
  }

  Streams streams_;
  char places_[16] = {};  // whose addresses are the streams
  unsigned made_ = 0;
  std::set<void*> open_;
  std::vector<void*> used_;
};

TEST_F(StreamsTest, AreMadeOnce) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(copy(), 0);
  EXPECT_EQ(made_, 1U);
}

TEST_F(StreamsTest, AreMadeAnewWhereTheirContextIsGone) {
  EXPECT_EQ(copy(), 0);
  open_.clear();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(copy(), 0);
  EXPECT_EQ(open_, std::set<void*>{&places_[1]});
  EXPECT_EQ(made_, 2U);
}

TEST_F(StreamsTest, AreNoMoreAfterCopiesThatFail) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(copy(true), kFailure);
  EXPECT_EQ(open_, std::set<void*>{&places_[0]});
  EXPECT_EQ(copy(), 0);
  EXPECT_EQ(used_.back(), &places_[0]);
}

// While one thread finds that the context is gone, another one has found that before it, and made a stream.
TEST_F(StreamsTest, AreNotTwoWhereTwoThreadsMakeOneAnew) {
  EXPECT_EQ(copy(), 0);
  open_.clear();
  bool first = true;
  const int code = streams_.with(
      7,
      [this](void** stream) {
        *stream = &places_[made_++];
        open_.insert(*stream);
        return 0;
      },
      [&](void* stream) {
        const bool gone = !open_.contains(stream);
        if (gone && first) {
          first = false;
          EXPECT_EQ(copy(), 0);
        }
        return gone ? kFailure : 0;
      },
      [this](void* stream) { open_.erase(stream); });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(open_, std::set<void*>{&places_[1]});
}

}  // namespace
}  // namespace urakata::device
