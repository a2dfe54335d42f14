// SPDX-License-Identifier: BSD-3-Clause
#include "space/jump.hpp"

#include <gtest/gtest.h>

#include <string>

namespace urakata::space {
namespace {

using namespace std::string_literals;

std::uintptr_t begin_of(const std::string& code) { return reinterpret_cast<std::uintptr_t>(code.data()); }

TEST(Jump, LeadsToItsTarget) {
  const std::string forward = "\xe9\x10\x02\x00\x00\x0f\x05"s;
  EXPECT_EQ(target_of_jump(forward), begin_of(forward) + 5 + 0x210);
  const std::string backward = "\xe9\xfb\xff\xff\xff"s;
  EXPECT_EQ(target_of_jump(backward), begin_of(backward));
  EXPECT_EQ(target_of_jump("\xff\x25\x00\x00\x00\x00\x88\x77\x66\x55\x44\x33\x22\x11"s), 0x1122334455667788U);
  EXPECT_EQ(target_of_jump("\x49\xbb\x88\x77\x66\x55\x44\x33\x22\x11\x41\xff\xe3"s), 0x1122334455667788U);
}

TEST(Jump, IsNotAnyOtherCode) {
  EXPECT_EQ(target_of_jump("\xb8\x1c\x00\x00\x00\x0f\x05\x48\x3d\x01\xf0\xff\xff\xc3"s), 0U);
  EXPECT_EQ(target_of_jump("\x49\xbb\x88\x77\x66\x55\x44\x33\x22\x11\x41\xff\xd3"s), 0U) << "a call";
  EXPECT_EQ(target_of_jump("\xff\x25\x08\x00\x00\x00\x88\x77\x66\x55\x44\x33\x22\x11"s), 0U) << "not right behind it";
  EXPECT_EQ(target_of_jump("\xe9\x10\x02"s), 0U);
  EXPECT_EQ(target_of_jump(""s), 0U);
}

}  // namespace
}  // namespace urakata::space
