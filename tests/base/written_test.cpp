// SPDX-License-Identifier: BSD-3-Clause
#include "base/options/written.hpp"

#include <gtest/gtest.h>

namespace urakata::written {
namespace {

// ./app 'a b' 'it'\''s' '' is typed for four words.
TEST(Written, AShellTakesEachWordAsItWas) {
  EXPECT_EQ(shell_word("./app"), "./app");
  EXPECT_EQ(shell_word("--grid=4x4,2:1@%+_"), "--grid=4x4,2:1@%+_");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$HOME;rm *"), "'$HOME;rm *'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace urakata::written
