// SPDX-License-Identifier: BSD-3-Clause
#include "base/file_bytes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace urakata {
namespace {

TEST(FileBytes, AreAllOrTheFirst) {
  std::string name = ::testing::TempDir() + "file_bytes_XXXXXX";
  close(mkstemp(name.data()));
  std::string written;
  for (int i = 0; i < 300000; ++i) written.push_back(static_cast<char>(i % 251));
  std::ofstream(name, std::ios::binary) << written;
  EXPECT_EQ(file_bytes(name), written);
  EXPECT_EQ(file_bytes(name, 5), written.substr(0, 5));
  EXPECT_EQ(file_bytes(name, 0), "");
  unlink(name.c_str());
  EXPECT_EQ(file_bytes(name), "");
}

TEST(FileBytes, AreReadWhereTheLengthIsUnknown) {
  const std::string all = file_bytes("/proc/self/maps");
  EXPECT_NE(all.find("[stack]"), std::string::npos);
  EXPECT_EQ(all.back(), '\n');
}

}  // namespace
}  // namespace urakata
