// SPDX-License-Identifier: BSD-3-Clause
#include "base/node_warnings.hpp"

#include <gtest/gtest.h>

namespace urakata::log {
namespace {

TEST(NodeWarnings, AreKeptWhileTheyAreWithheldAndGivenElse) {
  withhold_node_warnings();
  testing::internal::CaptureStderr();
  warning_of_node("no %s", "progress thread");
  warning_of_node("no %s", "space");
  warning_of_node("no %s", "progress thread");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(withheld_node_warnings(), (std::vector<std::string>{"no progress thread", "no space"}));
  EXPECT_EQ(withheld_node_warnings(), std::vector<std::string>{});
  testing::internal::CaptureStderr();
  warning_of_node("no %s", "core");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no core\n"), std::string::npos);
}

}  // namespace
}  // namespace urakata::log
