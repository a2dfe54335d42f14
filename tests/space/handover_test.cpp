// SPDX-License-Identifier: BSD-3-Clause
// What send_handover() sends, a HandoverReceiver gives: texts with blanks and empty ones, 600 descriptors by number.
#include "space/handover.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace urakata::space {
namespace {

class Pair : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    here = Descriptor(ends[0]);
    there = Descriptor(ends[1]);
  }
  // What comes to `there`, which a sender may be slow to send.
  Result<Handover> receive_handover() const {
    fcntl(there.number(), F_SETFL, O_NONBLOCK);
    HandoverReceiver receiver;
    for (;;) {
      if (std::optional<Result<Handover>> come = receiver.receive(there.number())) return std::move(*come);
      pollfd socket{there.number(), POLLIN, 0};
      poll(&socket, 1, -1);
    }
  }
  Descriptor here, there;
};

TEST_F(Pair, EverythingArrives) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < 1500) GTEST_SKIP() << "the limit of open files is " << limit.rlim_cur;
  std::vector<Descriptor> files;
  std::vector<int> numbers;
  for (int i = 0; i < 600; ++i) {
    files.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    numbers.push_back(files.back().number());
  }
  const Command command{"/a file", "./a", {"x", "", "two words"}, {"A=1", "EMPTY=", "B"}};
  Attributes attributes = own_attributes(5);
  Status sent = Error{""};
  std::thread sender([&] { sent = send_handover(here.number(), command, attributes, numbers); });
  const Result<Handover> received = receive_handover();
  sender.join();
  ASSERT_TRUE(sent) << sent.error().message;
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(received->command.file, command.file);
  EXPECT_EQ(received->command.shown, command.shown);
  EXPECT_EQ(received->command.arguments, command.arguments);
  EXPECT_EQ(received->command.environment, command.environment);
  EXPECT_EQ(received->attributes.blocked, 5U);
  EXPECT_EQ(received->attributes.umask, attributes.umask);
  ASSERT_EQ(received->descriptors.size(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(received->descriptors[i].number, numbers[i]);
  struct stat mine {};
  struct stat its {};
  ASSERT_EQ(stat(".", &mine), 0);
  ASSERT_EQ(fstat(received->directory.number(), &its), 0);
  EXPECT_EQ(mine.st_ino, its.st_ino);
}

TEST_F(Pair, APeerThatIsNoneOfUsIsRefused) {
  const std::array<char, 20> nonsense{};
  ASSERT_EQ(send(here.number(), nonsense.data(), nonsense.size(), 0), 20);
  EXPECT_FALSE(receive_handover());
  here.reset();
  EXPECT_FALSE(receive_handover());
}

// The kernel tells of what was not read before it gives what was written.
TEST_F(Pair, ANoteArrivesThoughItsSenderLeftThingsUnread) {
  ASSERT_TRUE(send_note(here.number(), NoteKind::signal, 1));
  ASSERT_TRUE(send_note(there.number(), NoteKind::refused, 0, "because"));
  there.reset();
  Note note;
  ASSERT_TRUE(receive_note(here.number(), note));
  EXPECT_STREQ(note.text.data(), "because");
  EXPECT_FALSE(receive_note(here.number(), note));
}

// Without rights a user has no more descriptors on the way than a process may have open: here 300 of 750.
TEST_F(Pair, DescriptorsWaitUntilOthersHaveArrived) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < 1500) GTEST_SKIP() << "the limit of open files is " << limit.rlim_cur;
  const Descriptor file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<int> numbers(750, file.number());
  const pid_t sender = fork();
  if (sender == 0) {
    const rlimit low{300, 300};
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> none{};
    if (setrlimit(RLIMIT_NOFILE, &low) != 0 || syscall(SYS_capset, &header, none.data()) != 0) _exit(2);
    const Status sent = send_handover(here.number(), {"/a", "a", {"a"}, {}}, own_attributes(0), numbers);
    _exit(sent ? 0 : 1);
  }
  here.reset();
  // As many as may be on the way are there once the sender sleeps after a datagram, or it has ended.
  const auto arrived = [&] {
    int bytes = 0;
    return ioctl(there.number(), FIONREAD, &bytes) == 0 && bytes > 0;
  };
  const auto state = [&] {
    std::string stat;
    std::getline(std::ifstream("/proc/" + std::to_string(sender) + "/stat"), stat);
    return stat.at(stat.rfind(')') + 2);
  };
  char now = 'R';
  for (bool some = false; now != 'Z' && !(some && now == 'S');) {
    some = arrived();
    now = state();
  }
  const Result<Handover> received = receive_handover();
  EXPECT_TRUE(received) << received.error().message;
  EXPECT_EQ(received ? received->descriptors.size() : 0, 750U);
  int status = 0;
  waitpid(sender, &status, 0);
  EXPECT_EQ(status, 0);
}

// One datagram with its descriptors, from one socket to another.
void pass_on(int from, int to) {
  std::array<char, 4096> bytes{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(253 * sizeof(int))> descriptors{};
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = descriptors.data();
  message.msg_controllen = descriptors.size();
  const ssize_t length = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
  ASSERT_GT(length, 0);
  part.iov_len = static_cast<std::size_t>(length);
  ASSERT_EQ(sendmsg(to, &message, 0), length);
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  for (std::size_t at = CMSG_LEN(0); at < header->cmsg_len; at += sizeof(int)) {
    int number = -1;
    std::memcpy(&number, reinterpret_cast<const char*>(header) + at, sizeof number);
    close(number);
  }
}

// A proxy process may be stopped between two datagrams: the receiver keeps what has come, and adds what comes later.
TEST_F(Pair, ASlowPeerIsNotWaitedFor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const Descriptor sender(ends[0]);
  const Descriptor between(ends[1]);
  const Descriptor file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<int> numbers(300, file.number());
  ASSERT_TRUE(send_handover(sender.number(), {"/a", "a", {"a"}, {}}, own_attributes(0), numbers));
  fcntl(there.number(), F_SETFL, O_NONBLOCK);
  HandoverReceiver receiver;
  EXPECT_FALSE(receiver.receive(there.number()));
  pass_on(between.number(), here.number());
  EXPECT_FALSE(receiver.receive(there.number()));
  EXPECT_FALSE(receiver.receive(there.number()));
  pass_on(between.number(), here.number());
  const auto come = receiver.receive(there.number());
  ASSERT_TRUE(come);
  ASSERT_TRUE(*come) << come->error().message;
  EXPECT_EQ((*come)->descriptors.size(), 300U);
}

// A peer that reads nothing: its notes are refused when there are too many, and the sender goes on.
TEST_F(Pair, NotesThatNobodyReadsAreNotWaitedFor) {
  fcntl(here.number(), F_SETFL, O_NONBLOCK);
  while (send_note(here.number(), NoteKind::stopped, 1)) {
  }
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(Pair, NotesKeepTheirText) {
  ASSERT_TRUE(send_note(here.number(), NoteKind::refused, 3, "because"));
  ASSERT_TRUE(send_note(here.number(), NoteKind::refused, 4, std::string(1000, 'x')));
  Note note;
  ASSERT_TRUE(receive_note(there.number(), note));
  EXPECT_STREQ(note.text.data(), "because");
  EXPECT_EQ(note.value, 3);
  ASSERT_TRUE(receive_note(there.number(), note));
  EXPECT_EQ(std::string(note.text.data()).size(), note.text.size() - 1);
  here.reset();
  EXPECT_FALSE(receive_note(there.number(), note));
}

}  // namespace
}  // namespace urakata::space
