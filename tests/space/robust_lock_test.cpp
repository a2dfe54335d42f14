#include "space/robust_lock.hpp"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace urakata::space {
namespace {

TEST(RobustLock, OfADeadTaskIsTakenFromIt) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  std::atomic<std::uint32_t> holder{static_cast<std::uint32_t>(child)};
  EXPECT_TRUE(lock_robust(holder, getpid()));
  EXPECT_EQ(holder, static_cast<std::uint32_t>(getpid()));
  unlock_robust(holder);
  EXPECT_FALSE(lock_robust(holder, getpid()));
}

TEST(RobustLock, OfALivingTaskIsWaitedFor) {
  std::atomic<std::uint32_t> holder{static_cast<std::uint32_t>(getpid())};
  std::atomic<bool> ended{false};
  std::thread other([&] {
    EXPECT_FALSE(lock_robust(holder, getpid()));
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
