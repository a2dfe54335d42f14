// SPDX-License-Identifier: BSD-3-Clause
#include "base/address_memory.hpp"

#include <gtest/gtest.h>

namespace urakata {
namespace {

TEST(AddressMemory, AsksOnceAndAgainWhereAnotherAddressTookThePlace) {
  AddressMemory memory;
  int asked = 0;
  const auto look = [&](const void* of) {
    ++asked;
    return reinterpret_cast<std::uintptr_t>(of) >= 0x2000;
  };
  const auto at = [](std::uintptr_t value) { return reinterpret_cast<const void*>(value); };
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(memory.ask(at(0x1000), look));
    EXPECT_TRUE(memory.ask(at(0x2010), look));
  }
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(memory.ask(at(0x1000 + 4 * 256 * 16), look));  // in the place of 0x1000
  EXPECT_FALSE(memory.ask(at(0x1000), look));
  EXPECT_EQ(asked, 4);
}

}  // namespace
}  // namespace urakata
