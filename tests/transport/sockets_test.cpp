// SPDX-License-Identifier: BSD-3-Clause
// Where a process listens, with sockets of this machine's loopback.
#include "transport/wire/sockets.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace urakata::transport::sockets_test {
namespace {

// 127.0.0.`last`.
InterfaceAddress loopback_address(unsigned last) {
  InterfaceAddress address{.interface = "lo", .family = AF_INET, .bytes = {}};
  const std::uint32_t number = htonl(0x7f000000U + last);
  std::memcpy(address.bytes.data(), &number, sizeof number);
  return address;
}

InterfaceAddress loopback_6() {
  InterfaceAddress address{.interface = "lo", .family = AF_INET6, .bytes = {}};
  std::memcpy(address.bytes.data(), &in6addr_loopback, sizeof in6addr_loopback);
  return address;
}

// 0: a connection can be made; else errno.
int connect_to(const InterfaceAddress& where, std::uint16_t port) {
  sockaddr_storage address{};
  address.ss_family = static_cast<sa_family_t>(where.family);
  const bool four = where.family == AF_INET;
  if (four) {
    std::memcpy(&reinterpret_cast<sockaddr_in&>(address).sin_addr, where.bytes.data(), 4);
  } else {
    std::memcpy(&reinterpret_cast<sockaddr_in6&>(address).sin6_addr, where.bytes.data(), 16);
  }
  reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
  const int made = socket(where.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return errno;
  const socklen_t size = four ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  const int code = connect(made, reinterpret_cast<const sockaddr*>(&address), size) == 0 ? 0 : errno;
  close(made);
  return code;
}

bool has_ipv6() { return open_listeners("a test", std::vector{loopback_6()}).ok(); }

TEST(Listeners, AtAllAddresses) {
  const auto opened = open_listeners("a test", {});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(opened->descriptors.size(), 1U);
  EXPECT_EQ(connect_to(loopback_address(1), opened->port), 0);
  EXPECT_EQ(connect_to(loopback_address(2), opened->port), 0);
  EXPECT_TRUE(!has_ipv6() || connect_to(loopback_6(), opened->port) == 0);
  close_listeners(opened->descriptors);
}

// 127.0.0.2, 127.0.0.3 and ::1 are chosen: the same port at each, and 127.0.0.1 refuses.
TEST(Listeners, AtTheChosenAddressesOnly) {
  std::vector<InterfaceAddress> chosen{loopback_address(2), loopback_address(3)};
  if (has_ipv6()) chosen.push_back(loopback_6());
  const auto opened = open_listeners("a test", chosen);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(opened->descriptors.size(), chosen.size());
  for (const InterfaceAddress& one : chosen) EXPECT_EQ(connect_to(one, opened->port), 0);
  EXPECT_EQ(connect_to(loopback_address(1), opened->port), ECONNREFUSED);
  close_listeners(opened->descriptors);
}

// 192.0.2.1 is for documentation, so no machine has it. A tentative IPv6 address is refused likewise.
TEST(Listeners, AnAddressThatCannotBeUsedIsLeftOut) {
  InterfaceAddress elsewhere = loopback_address(1);
  elsewhere.bytes[0] = std::byte{192};
  elsewhere.bytes[1] = std::byte{0};
  elsewhere.bytes[2] = std::byte{2};
  for (const auto& chosen :
       {std::vector{loopback_address(2), elsewhere}, std::vector{elsewhere, loopback_address(2)}}) {
    const auto opened = open_listeners("a test", chosen);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ(opened->descriptors.size(), 1U);
    EXPECT_EQ(connect_to(loopback_address(2), opened->port), 0);
    close_listeners(opened->descriptors);
  }
  const auto none = open_listeners("a test", std::vector{elsewhere});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("cannot bind a socket for a test"), std::string::npos) << none.error().message;
  EXPECT_NE(none.error().message.find(std::strerror(EADDRNOTAVAIL)), std::string::npos) << none.error().message;
}

// While the child lives, nothing listens any more once this process has closed its sockets.
TEST(Listeners, AForkedChildHasNone) {
  const auto opened = open_listeners("a test", std::vector{loopback_address(2)});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const pid_t child = fork();
  char byte = 0;
  if (child == 0) {
    close(ends[1]);
    const bool begun = write(ends[0], &byte, 1) == 1;
    _exit(begun && read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  ASSERT_EQ(read(ends[1], &byte, 1), 1);  // it has begun
  EXPECT_EQ(connect_to(loopback_address(2), opened->port), 0);
  close_listeners(opened->descriptors);
  EXPECT_EQ(connect_to(loopback_address(2), opened->port), ECONNREFUSED);
  close(ends[0]);
  close(ends[1]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace urakata::transport::sockets_test
