// SPDX-License-Identifier: BSD-3-Clause
// "ENGIEN" is one swap from ENGINE and nothing like SEGMENT.
#include "base/options/nearest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace urakata {
namespace {

constexpr std::array<std::string_view, 3> kWords = {"ENGINE", "SEGMENT", "NAP_US"};

TEST(Nearest, FindsSwapsReplacementsAndCase) {
  EXPECT_EQ(nearest("ENGIEN", kWords), "ENGINE");
  EXPECT_EQ(nearest("segmant", kWords), "SEGMENT");
  EXPECT_EQ(nearest("NAP", kWords), "");
  EXPECT_EQ(nearest("NAP_U", kWords), "NAP_US");
}

TEST(Nearest, GivesNothingForWhatIsFarFromAll) {
  EXPECT_EQ(nearest("TURBO_CHARGER", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
}

}  // namespace
}  // namespace urakata
