// SPDX-License-Identifier: BSD-3-Clause
#include "space/robust_lock.hpp"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <thread>

namespace urakata::space {
namespace {

// Two tasks of a registry. A slot that is used again has another task, whatever its pid.
class RobustLock : public ::testing::Test {
 protected:
  void SetUp() override {
    start(one);
    start(two);
  }

  void start(const Membership& task) {
    TaskRecord& record = registry->tasks[task.slot];
    record.uses += 1;
    record.pid = getpid();  // lives, as does a process that got the pid of a dead task
    record.state = TaskState::running;
  }
  void end(const Membership& task) { registry->tasks[task.slot].state = TaskState::ended; }

  std::unique_ptr<Registry> registry = std::make_unique<Registry>();
  const Membership one{registry.get(), 0};
  const Membership two{registry.get(), kMostTasks - 1};
};

TEST_F(RobustLock, OfADeadTaskIsTakenFromIt) {
  EXPECT_FALSE(lock_robust(registry->forking, one));
  EXPECT_EQ(registry->forking, lock_word(one));
  end(one);
  EXPECT_TRUE(lock_robust(registry->forking, two));
  EXPECT_EQ(registry->forking, lock_word(two));
  unlock_robust(registry->forking);
  EXPECT_FALSE(lock_robust(registry->forking, two));
}

TEST_F(RobustLock, OfADeadTaskIsNotThatOfTheNextOneInItsSlot) {
  EXPECT_FALSE(lock_robust(registry->forking, two));
  end(two);
  start(two);
  EXPECT_TRUE(lock_robust(registry->forking, one));
  unlock_robust(registry->forking);
  EXPECT_FALSE(lock_robust(registry->forking, two));
}

TEST_F(RobustLock, OfALivingTaskIsWaitedFor) {
  std::atomic<std::uint32_t>& holder = registry->forking;
  EXPECT_FALSE(lock_robust(holder, one));
  std::atomic<bool> ended{false};
  std::thread other([&] {
    EXPECT_FALSE(lock_robust(holder, two));
    EXPECT_TRUE(ended);
  });
  // Woken for no reason, it waits on; that somebody was woken shows that it waits.
  while (syscall(SYS_futex, &holder, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0) == 0) std::this_thread::yield();
  ended = true;
  unlock_robust(holder);
  other.join();
}

}  // namespace
}  // namespace urakata::space
