// SPDX-License-Identifier: BSD-3-Clause
// Behind the guard sbrk gives nothing, and malloc maps its memory instead. (That the break cannot go down either needs
// a process that has never allocated: tests/programs/spaces/space_life.cpp tries it in a space.)
#include "space/break_guard.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace urakata::space {
namespace {

int guarded() {
  if (guard_break() != 0) return 1;
  if (sbrk(1) != reinterpret_cast<void*>(-1)) return 2;
  if (sbrk(1 << 20) != reinterpret_cast<void*>(-1)) return 3;
  std::vector<std::string> many;
  for (int i = 0; i < 20000; ++i) many.emplace_back(1000, 'x');
  return many.back() == std::string(1000, 'x') ? 0 : 4;
}

TEST(BreakGuard, Holds) {
  const pid_t child = fork();  // the guard stays
  if (child == 0) _exit(guarded());
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace urakata::space
