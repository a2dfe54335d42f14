// SPDX-License-Identifier: BSD-3-Clause
// LD_PRELOAD=/a/libuser.so:/b/liburakata-openmpi.so becomes LD_PRELOAD=/a/libuser.so.
#include "base/preload_env.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace urakata {
namespace {

std::string after(const char* list) {
  setenv("LD_PRELOAD", list, 1);
  forget_preload();
  const char* left = std::getenv("LD_PRELOAD");
  const std::string result = left == nullptr ? "(unset)" : left;
  unsetenv("LD_PRELOAD");
  return result;
}

TEST(ForgetPreload, TakesOursAndLeavesTheUsers) {
  EXPECT_EQ(after("/a/libuser.so:/b/liburakata-openmpi.so"), "/a/libuser.so");
  EXPECT_EQ(after("/b/liburakata-late.so /a/libuser.so libother.so"), "/a/libuser.so:libother.so");
  EXPECT_EQ(after("/liburakata-x/libuser.so"), "/liburakata-x/libuser.so");
}

TEST(ForgetPreload, TakesTheWholeVariableWhereOursWasAlone) {
  EXPECT_EQ(after("/b/liburakata-mpich.so"), "(unset)");
  EXPECT_EQ(after("liburakata-mpich.so:liburakata-late.so"), "(unset)");
}

TEST(ForgetPreload, TakesLinkedToolsAndLeavesTheUsersOwn) {
  const std::string linked = std::string(kLinkedToolMark) + "/a/libtool.so";
  EXPECT_EQ(after(("/a/libtool.so:" + linked + ":/b/liburakata-mpich.so").c_str()), "/a/libtool.so");
  EXPECT_EQ(after("/.hidden/libtool.so"), "/.hidden/libtool.so");
}

TEST(OtherPreloads, AreTheUsersInOrder) {
  EXPECT_EQ(other_preloads("/./a/libtool.so:libx.so  /b/liburakata-late.so:/c/liby.so"),
            (std::vector<std::string>{"libx.so", "/c/liby.so"}));
  EXPECT_TRUE(other_preloads("").empty());
}

TEST(ForgetPreload, LeavesTheVariablesAroundItAlone) {
  setenv("URAKATA_BEFORE", "1", 1);
  setenv("LD_PRELOAD", "liburakata-mpich.so", 1);
  setenv("URAKATA_AFTER", "2", 1);
  forget_preload();
  EXPECT_STREQ(std::getenv("URAKATA_BEFORE"), "1");
  EXPECT_STREQ(std::getenv("URAKATA_AFTER"), "2");
  forget_preload();
}

}  // namespace
}  // namespace urakata
