// SPDX-License-Identifier: BSD-3-Clause
// Listeners of several ranks in one process, and unauthenticated connections to them.
#include "chain/listener.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <iterator>
#include <thread>

#include "../no_more_descriptors.hpp"

namespace urakata::chain {
namespace {

constexpr transport::Secret kSecret{.low = 5, .high = 6};
constexpr std::uint64_t kNeverReached = 60'000'000'000;  // ns
constexpr std::size_t kMostUnauthenticated = 64;         // that a listener accepts before they have named the secret

// A listener for each rank of a communicator.
struct Ranks {
  Ranks(std::size_t count, std::uint64_t timeout_ns) {
    for (std::size_t rank = 0; rank < count; ++rank) {
      auto opened = Listener::open(static_cast<std::int32_t>(rank), kSecret, timeout_ns);
      if (!opened.ok()) {
        ADD_FAILURE() << opened.error().message;
        return;
      }
      listeners.push_back(std::move(*opened));
      Listener::Member member{
          .rank = static_cast<std::int32_t>(rank), .context = static_cast<std::int32_t>(10 + rank), .address = {}};
      auto& address = reinterpret_cast<sockaddr_in&>(member.address.address);
      address.sin_family = AF_INET;
      address.sin_port = htons(listeners.back()->port());
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      member.address.length = sizeof address;
      members.push_back(member);
    }
  }
  Result<std::vector<Peer>> connect(std::size_t rank) { return listeners[rank]->connect(members, rank); }

  std::vector<std::unique_ptr<Listener>> listeners;
  std::vector<Listener::Member> members;
};

void close_all(const std::vector<Peer>& peers) {
  for (const Peer& peer : peers) {
    if (peer.socket >= 0) close(peer.socket);
  }
}

// Connections to a rank's listener that say nothing. The operator: the socket of one of them, in the order in which
// they were made.
class Unauthenticated {
 public:
  Unauthenticated(std::size_t count, const Listener::Member& member) : sockets_(count) {
    for (int& one : sockets_) {
      one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const auto* address = reinterpret_cast<const sockaddr*>(&member.address.address);
      EXPECT_EQ(connect(one, address, member.address.length), 0);
    }
  }
  Unauthenticated(const Unauthenticated&) = delete;
  Unauthenticated& operator=(const Unauthenticated&) = delete;
  ~Unauthenticated() {
    for (const int one : sockets_) close(one);
  }
  int operator[](std::size_t which) const { return sockets_[which]; }
  bool closed(std::size_t which) const {
    char byte = 0;
    return recv(sockets_[which], &byte, 1, MSG_DONTWAIT) == 0;
  }

 private:
  std::vector<int> sockets_;
};

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

// Ranks connect, whoever comes first; a connection with a wrong secret is not accepted.
TEST(Listener, RanksOfACommunicatorConnect) {
  constexpr std::size_t kRanks = 4;
  Ranks ranks(kRanks, kNeverReached);
  const Unauthenticated wrong(1, ranks.members[0]);
  const std::array<std::uint64_t, 3> handshake{5, 7, 1};
  ASSERT_EQ(write(wrong[0], handshake.data(), sizeof handshake), static_cast<ssize_t>(sizeof handshake));
  std::vector<std::vector<Peer>> peers(kRanks);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      auto connected = ranks.connect(rank);
      EXPECT_TRUE(connected.ok()) << connected.error().message;
      if (connected.ok()) peers[rank] = std::move(*connected);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t from = 0; from < kRanks; ++from) {
    for (std::size_t to = 0; to < kRanks; ++to) {
      if (from == to) continue;
      const std::size_t word = from * kRanks + to;
      ASSERT_EQ(write(peers[from][to].socket, &word, sizeof word), static_cast<ssize_t>(sizeof word));
      std::size_t got = 0;
      ASSERT_EQ(recv(peers[to][from].socket, &got, sizeof got, MSG_WAITALL), static_cast<ssize_t>(sizeof got));
      EXPECT_EQ(got, word);
    }
  }
  for (const auto& all : peers) close_all(all);
}

// Rank 0 has accepted rank 2 and waits for rank 1. A child that is forked then does not keep the connection open.
TEST(Listener, AForkedChildHasNoConnectionThatIsNotTakenYet) {
  Ranks ranks(3, 100'000'000);
  const int to_rank_0 = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Listener::Member& member = ranks.members[0];
  ASSERT_EQ(connect(to_rank_0, reinterpret_cast<const sockaddr*>(&member.address.address), member.address.length), 0);
  const std::array<std::uint64_t, 3> handshake{kSecret.low, kSecret.high, (std::uint64_t{10} << 32U) | 2U};
  ASSERT_EQ(write(to_rank_0, handshake.data(), sizeof handshake), static_cast<ssize_t>(sizeof handshake));
  EXPECT_FALSE(ranks.connect(0).ok());
  std::array<int, 2> gate{};
  ASSERT_EQ(pipe(gate.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(gate[1]);
    char byte = 0;
    _exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
  }
  ranks.listeners[0].reset();
  pollfd end{.fd = to_rank_0, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&end, 1, 10'000), 1);
  close(gate[0]);
  close(gate[1]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(to_rank_0);
}

// 80 connect, and rank 1 never does: those that are not young any more are closed, the oldest first. The very first has
// sent a part of the handshake.
TEST(Listener, OfThoseWhoHaveNotNamedTheSecretItHoldsAFewOnly) {
  Ranks ranks(2, 500'000'000);
  const Unauthenticated silent(kMostUnauthenticated + 16, ranks.members[0]);
  const std::uint64_t half = kSecret.low;
  ASSERT_EQ(write(silent[0], &half, sizeof half), static_cast<ssize_t>(sizeof half));
  const std::ptrdiff_t before = open_descriptors();
  EXPECT_FALSE(ranks.connect(0).ok());
  EXPECT_LE(open_descriptors() - before, static_cast<std::ptrdiff_t>(kMostUnauthenticated));
  for (std::size_t i = 0; i < kMostUnauthenticated + 16; ++i) EXPECT_EQ(silent.closed(i), i > 0 && i <= 16) << i;
}

// 80 come before rank 1, and it is accepted.
TEST(Listener, WhoNeverNamesTheSecretKeepsNoRankOut) {
  Ranks ranks(2, kNeverReached);
  const Unauthenticated silent(kMostUnauthenticated + 16, ranks.members[0]);
  const auto second = ranks.connect(1);
  ASSERT_TRUE(second.ok()) << second.error().message;
  const auto first = ranks.connect(0);
  EXPECT_TRUE(first.ok()) << first.error().message;
  for (std::size_t i = 16; i < kMostUnauthenticated + 16; ++i) EXPECT_FALSE(silent.closed(i)) << i;
  if (first.ok()) close_all(*first);
  close_all(*second);
}

// Rank 1 has connected, and rank 0 has no descriptor for it: it sleeps until the timeout.
TEST(Listener, WhoCannotBeAcceptedIsLeftAloneForAWhile) {
  Ranks ranks(2, 300'000'000);
  const Unauthenticated other(1, ranks.members[0]);
  const NoMoreDescriptors none;
  rusage before{}, after{};
  ASSERT_EQ(getrusage(RUSAGE_THREAD, &before), 0);
  EXPECT_FALSE(ranks.connect(0).ok());
  ASSERT_EQ(getrusage(RUSAGE_THREAD, &after), 0);
  EXPECT_GT(after.ru_nvcsw, before.ru_nvcsw);
}

}  // namespace
}  // namespace urakata::chain
