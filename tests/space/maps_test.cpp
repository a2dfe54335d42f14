// SPDX-License-Identifier: BSD-3-Clause
// "7f00-7f10 r-xp 00001000 08:01 42   /lib/a b.so" is 16 bytes from 0x7f00, readable, from 0x1000 on in "/lib/a b.so".
#include "space/maps.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace urakata::space {
namespace {

TEST(MapsLine, HasAddressesOffsetAndFile) {
  const auto with_file = maps_line("7f00-7f10 r-xp 00001000 08:01 42                  /lib/a b.so");
  ASSERT_TRUE(with_file);
  EXPECT_EQ(with_file->begin, 0x7f00U);
  EXPECT_EQ(with_file->end, 0x7f10U);
  EXPECT_EQ(with_file->offset, 0x1000U);
  EXPECT_TRUE(with_file->readable);
  EXPECT_EQ(with_file->path, "/lib/a b.so");
  const auto without = maps_line("7f00-7f10 ---p 00000000 00:00 0 ");
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->readable);
  EXPECT_EQ(without->path, "");
}

TEST(MapsLine, IsNoOtherLineOfSmaps) {
  for (const char* line :
       {"", "AnonHugePages:         0 kB", "VmFlags: rd wr mr mw me dc ac", "7f00-", "7f00-7f10 r-xp"})
    EXPECT_FALSE(maps_line(line)) << line;
}

TEST(ProcLines, AreThoseOfTheFile) {
  ProcLines lines("/proc/self/environ-of-nobody");
  EXPECT_FALSE(lines.next());
  // Longer than the buffer, and the same whenever it is read.
  const char* const path = "/proc/kallsyms";
  std::ifstream whole(path);
  ProcLines same(path);
  std::string line;
  for (int i = 0; i < 10'000 && std::getline(whole, line); ++i) ASSERT_EQ(same.next(), line);
}

}  // namespace
}  // namespace urakata::space
