// SPDX-License-Identifier: BSD-3-Clause
// A process whose pid stands in slot 1 of the block that URAKATA_SPACE_AT names is task 1; any other process is none.
#include "space/registry.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace urakata::space {
namespace {

class Joining : public ::testing::Test {
 protected:
  void SetUp() override {
    registry->identity = 0x1234;
    registry->used = 2;
    registry->tasks[1].pid = getpid();
    registry->tasks[1].state = TaskState::running;
    name(registry.get(), 0x1234);
  }
  void TearDown() override { unsetenv(kSpaceVariable); }

  static void name(const void* address, unsigned long identity) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%lx:%lx", reinterpret_cast<unsigned long>(address), identity);
    setenv(kSpaceVariable, text.data(), 1);
  }

  std::unique_ptr<Registry> registry = std::make_unique<Registry>();
};

TEST_F(Joining, IsToldTheSpacesIdentity) { EXPECT_EQ(own_space(), 0x1234U); }

// Nodes have 384 cores.
TEST_F(Joining, HasRoomForTheRanksOfALargeNode) {
  registry->tasks[1].pid = 0;
  registry->used = 1000;
  registry->tasks.at(999).pid = getpid();
  registry->tasks.at(999).state = TaskState::running;
  ASSERT_TRUE(own_membership());
  EXPECT_EQ(own_membership()->slot, 999U);
}

TEST_F(Joining, AForkedCopyIsNoTask) {
  const pid_t child = fork();
  if (child == 0) _exit(own_space() ? 1 : 0);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Joining, AnEndedRecordOfTheSamePidIsAnothers) {
  registry->tasks[1].state = TaskState::ended;
  EXPECT_FALSE(own_space());
}

// The task before was killed while its MPI library started.
TEST_F(Joining, ARecordUsedAgainHasNothingOfTheTaskBefore) {
  TaskRecord& record = registry->tasks[1];
  record.settled = true;
  record.shares_file = true;
  record.uses = 1;
  record.begin_use();
  EXPECT_EQ(record.pid, 0);
  EXPECT_FALSE(record.settled);
  EXPECT_FALSE(record.shares_file);
  EXPECT_EQ(record.uses, 2U);
}

TEST_F(Joining, AVariableFromAnotherSpaceIsNotBelieved) {
  name(registry.get(), 0x1235);
  EXPECT_FALSE(own_space());
  void* const closed = mmap(nullptr, sizeof(Registry), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  name(closed, 0x1234);
  EXPECT_FALSE(own_space());
  munmap(closed, sizeof(Registry));
  name(closed, 0x1234);
  EXPECT_FALSE(own_space());
  for (const char* text : {"", "x", "0:1234", "1001:1234"}) {
    setenv(kSpaceVariable, text, 1);
    EXPECT_FALSE(own_space()) << text;
  }
}

}  // namespace
}  // namespace urakata::space
