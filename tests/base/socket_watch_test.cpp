// SPDX-License-Identifier: BSD-3-Clause
#include "base/socket_watch.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <functional>
#include <utility>

namespace {

std::function<void()> before_write;
thread_local long events = -1;  // that the latest wait on an epoll set brought

template <class Function>
Function the_c_librarys(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// In the C library's place: what another thread does just before a bell rings.
extern "C" ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (const auto meanwhile = std::exchange(before_write, nullptr)) meanwhile();
  static const auto real = the_c_librarys<ssize_t (*)(int, const void*, size_t)>("write");
  return real(descriptor, bytes, count);
}

// In its place too: what epoll_pwait2 answers, or epoll_wait where the kernel does not have that.
extern "C" long syscall(long number, ...) noexcept {
  static const auto real = the_c_librarys<long (*)(long, ...)>("syscall");
  va_list list;
  va_start(list, number);
  long words[6];
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  const long answer = real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
  if (number == SYS_epoll_pwait2) events = answer;
  return answer;
}
extern "C" int epoll_wait(int set, epoll_event* found, int most, int milliseconds) {
  static const auto real = the_c_librarys<int (*)(int, epoll_event*, int, int)>("epoll_wait");
  const int answer = real(set, found, most, milliseconds);
  events = answer;
  return answer;
}

namespace urakata {
namespace {

constexpr std::uint64_t kLong = 600'000'000'000;  // ns

class SocketWatchTest : public testing::Test {
 protected:
  ~SocketWatchTest() override { close(event_); }

  // Nothing would end a sleep.
  bool sleeps() {
    events = -1;
    watch_.wait_for_descriptors(0);
    return events == 0;
  }

  int event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  SocketWatch watch_{{event_}};
};

TEST_F(SocketWatchTest, ReadinessEndsTheSleepAsLongAsItIsThere) {
  EXPECT_TRUE(sleeps());
  eventfd_write(event_, 1);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(watch_.wait_for_descriptors(kLong));
  eventfd_t taken = 0;
  eventfd_read(event_, &taken);
  EXPECT_TRUE(sleeps());
}

TEST_F(SocketWatchTest, AWakeEndsOneSleep) {
  for (int i = 0; i < 2; ++i) {
    watch_.wake();
    EXPECT_TRUE(watch_.wait_for_descriptors(kLong));
    EXPECT_TRUE(sleeps());
  }
}

// The sleeper wakes for another reason while somebody is about to wake it: the bell then rings when nobody sleeps.
TEST_F(SocketWatchTest, AWakeThatComesAfterTheSleepEndsOnlyTheNext) {
  before_write = [this] { watch_.wait_for_descriptors(0); };
  watch_.wake();
  EXPECT_TRUE(watch_.wait_for_descriptors(kLong));
  EXPECT_TRUE(sleeps());
}

TEST_F(SocketWatchTest, ALateWakeDoesNotKeepTheSleepOnAllSocketsAwake) {
  watch_.wake();
  EXPECT_TRUE(watch_.wait(kLong));
  EXPECT_TRUE(sleeps());
}

// A process without another socket or a descriptor closes its only TCP socket.
TEST(WatchedSockets, AreThoseThatAreOpen) {
  SocketWatch watch;
  if (watch.wait(0)) GTEST_SKIP() << "this process has inherited a TCP socket";
  const int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(tcp, 0);
  while (!watch.wait(0)) {  // until the next scan
  }
  close(tcp);
  while (watch.wait(0)) {  // until the next scan; a test that waits for ever is ended by its runner
  }
}

// The process of rank 0 forks a child and closes its connection: rank 1 sees the end, though the child lives.
TEST(LeftOutSockets, AreNotKeptByAForkedChild) {
  std::array<int, 2> connection{};
  std::array<int, 2> words{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, connection.data()), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, words.data()), 0);
  SocketWatch::leave_out(connection[0]);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  char word = 0;
  if (child == 0) {
    close(words[0]);
    int type = 0;
    socklen_t size = sizeof type;
    const bool gone = getsockopt(connection[0], SOL_SOCKET, SO_TYPE, &type, &size) != 0;
    shutdown(words[1], SHUT_WR);                              // it has begun
    _exit(gone && recv(words[1], &word, 1, 0) == 0 ? 0 : 1);  // until its parent has looked
  }
  close(words[1]);
  EXPECT_EQ(recv(words[0], &word, 1, 0), 0);
  SocketWatch::closed(connection[0]);
  close(connection[0]);
  EXPECT_EQ(recv(connection[1], &word, 1, MSG_DONTWAIT), 0);
  close(words[0]);
  close(connection[1]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace urakata
