// SPDX-License-Identifier: BSD-3-Clause
// Descriptors 10, 11, 12 of the daemon are to be 11, 12, 10: each file arrives at its number, and all others are
// closed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "space/handover.hpp"
#include "space/spawn.hpp"

namespace urakata::space {
namespace {

// In a child, since all descriptors are closed there. Each source has its own position in the same file.
int moved(std::vector<DescriptorMove> moves, int highest) {
  const pid_t child = fork();
  if (child == 0) {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int high = std::max(highest, highest_descriptor());
    for (const DescriptorMove& one : moves) high = std::max(high, one.from);
    for (const DescriptorMove& one : moves) {
      const int source = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
      lseek(source, one.to, SEEK_SET);
      if (source != one.from) {
        dup3(source, one.from, O_CLOEXEC);
        close(source);
      }
    }
    if (file < 0) _exit(10);
    std::vector<DescriptorMove> work = moves;
    if (!move_descriptors(work, high)) _exit(11);
    std::vector<int> wanted;
    for (const DescriptorMove& one : moves) {
      if (lseek(one.to, 0, SEEK_CUR) != one.to) _exit(12);
      wanted.push_back(one.to);
    }
    std::ranges::sort(wanted);
    _exit(inheritable_descriptors() == wanted ? 0 : 13);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(MoveDescriptors, ToFreeNumbers) { EXPECT_EQ(moved({{20, 0}, {21, 1}, {22, 2}, {23, 251}}, 30), 0); }
TEST(MoveDescriptors, InARing) { EXPECT_EQ(moved({{40, 41}, {41, 42}, {42, 40}}, 50), 0); }
TEST(MoveDescriptors, WhereTheyAre) { EXPECT_EQ(moved({{40, 40}, {41, 41}}, 50), 0); }
TEST(MoveDescriptors, OntoOthersThatStay) { EXPECT_EQ(moved({{40, 43}, {42, 42}, {43, 41}, {41, 40}}, 50), 0); }
TEST(MoveDescriptors, None) { EXPECT_EQ(moved({}, 50), 0); }

}  // namespace
}  // namespace urakata::space
