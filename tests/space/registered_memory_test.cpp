// SPDX-License-Identifier: BSD-3-Clause
#include "space/registered_memory.hpp"

#include <gtest/gtest.h>

namespace urakata::space {
namespace {

TEST(RegisteredMemory, IsCopiedByForksSinceLinux5_13) {
  for (const char* one : {"5.13.0", "5.14.0-427.el9.x86_64", "6.1.0-18-amd64", "10.0"}) {
    EXPECT_TRUE(copies_pinned_pages(one)) << one;
  }
  for (const char* one : {"5.12.19", "4.18.0-553.el8_10.x86_64", "3.10.0", "", "unknown", "6", "6.x"}) {
    EXPECT_FALSE(copies_pinned_pages(one)) << one;
  }
}

TEST(RegisteredMemory, IsThatOfVerbsAndOfUcx) {
  for (const char* one : {"/usr/lib/x86_64-linux-gnu/libibverbs.so.1", "libuct_ib.so.0", "/opt/ucx/libuct_ib_mlx5.so.0",
                          "/venv/lib/libibverbs-3f1c.so.1.14", "/usr/lib/libmlx5.so.1", "/usr/lib/libmpi.so.12"}) {
    EXPECT_TRUE(is_registering_library(one)) << one;
  }
  for (const char* one : {"/home/me/libibverbs/app", "libuct.so.0", "libfabric.so.1", "/venv/libmpi4py.so", ""}) {
    EXPECT_FALSE(is_registering_library(one)) << one;
  }
}

TEST(RegisteredMemory, IsNotWhatThisProgramLeavesOutOfItsForks) {
  const auto here = reinterpret_cast<std::uintptr_t>(&copies_pinned_pages);
  for (std::uintptr_t i = 0; i < 40; ++i) EXPECT_FALSE(is_needless_fork_advice(here + i));
  EXPECT_FALSE(is_needless_fork_advice(here));
}

}  // namespace
}  // namespace urakata::space
