#include "base/socket_watch.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "base/clock.hpp"

namespace {
std::function<void()> before_write;
}  // namespace

// In the C library's place: what another thread does just before a bell rings.
extern "C" ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (const auto meanwhile = std::exchange(before_write, nullptr)) meanwhile();
  return syscall(SYS_write, descriptor, bytes, count);
}

namespace urakata {
namespace {

constexpr std::uint64_t kLong = 600'000'000'000;  // ns
constexpr std::uint64_t kShort = 20'000'000;

class SocketWatchTest : public testing::Test {
 protected:
  ~SocketWatchTest() override { close(news_); }

  // Sleeps for as long as it is let.
  bool sleeps() {
    const std::uint64_t begin = now_ns();
    watch_.wait_for_news(kShort);
    return now_ns() - begin >= kShort;
  }

  int news_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  SocketWatch watch_{{news_}};
};

TEST_F(SocketWatchTest, NewsEndsTheSleepAsLongAsItIsThere) {
  EXPECT_TRUE(sleeps());
  eventfd_write(news_, 1);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(watch_.wait_for_news(kLong));
  eventfd_t taken = 0;
  eventfd_read(news_, &taken);
  EXPECT_TRUE(sleeps());
}

TEST_F(SocketWatchTest, AWakeEndsOneSleep) {
  for (int i = 0; i < 2; ++i) {
    watch_.wake();
    EXPECT_TRUE(watch_.wait_for_news(kLong));
    EXPECT_TRUE(sleeps());
  }
}

// The sleeper wakes for another reason while somebody is about to wake it: the bell then rings when nobody sleeps.
TEST_F(SocketWatchTest, AWakeThatComesAfterTheSleepEndsOnlyTheNext) {
  before_write = [this] { watch_.wait_for_news(0); };
  watch_.wake();
  EXPECT_TRUE(watch_.wait_for_news(kLong));
  EXPECT_TRUE(sleeps());
}

TEST_F(SocketWatchTest, ALateWakeDoesNotKeepTheSleepOnAllSocketsAwake) {
  watch_.wake();
  EXPECT_TRUE(watch_.wait(kLong));
  EXPECT_TRUE(sleeps());
}

}  // namespace
}  // namespace urakata
