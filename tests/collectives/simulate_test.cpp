// SPDX-License-Identifier: BSD-3-Clause
// The simulator finds what it is there to find: schedules with one edge, place or message wrong, over many random
// orders.
#include "simulate.hpp"

#include <gtest/gtest.h>

#include <set>

#include "schedule/builder.hpp"

namespace urakata::simulate::simulate_test {
namespace {

using schedule::Builder;
using schedule::kRecvBuffer;
using schedule::kSendBuffer;
using schedule::Schedule;

constexpr std::uint64_t kBytes = 8;

std::set<std::string> stories(const std::vector<Schedule>& schedules) {
  std::set<std::string> found;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::vector<std::vector<Bytes>> buffers(schedules.size(),
                                            {Bytes(kBytes, std::byte{1}), Bytes(kBytes, std::byte{2})});
    found.insert(Simulation(schedules, buffers, {}, seed).run());
  }
  return found;
}

// Both swap: fine whatever the order.
TEST(Simulation, ASwapEndsWell) {
  std::vector<Schedule> both;
  for (std::uint32_t r = 0; r < 2; ++r) {
    Builder b("swap", 2, r);
    b.send(1 - r, {.buffer = kSendBuffer}, kBytes);
    b.recv(1 - r, {.buffer = kRecvBuffer}, kBytes);
    both.push_back(*b.commit());
  }
  EXPECT_EQ(stories(both), std::set<std::string>{""});
}

// Rank 1 receives into the buffer that it still sends from.
TEST(Simulation, AReceiveOverASendIsFound) {
  std::vector<Schedule> both;
  for (std::uint32_t r = 0; r < 2; ++r) {
    Builder b("swap", 2, r);
    b.send(1 - r, {.buffer = r == 1 ? kRecvBuffer : kSendBuffer}, kBytes);
    b.recv(1 - r, {.buffer = kRecvBuffer}, kBytes);
    both.push_back(*b.commit());
  }
  EXPECT_TRUE(stories(both).contains("swap, rank 1, node 0 reads what is changed meanwhile"));
}

// Each receives before it sends.
TEST(Simulation, ADeadlockIsFound) {
  std::vector<Schedule> both;
  for (std::uint32_t r = 0; r < 2; ++r) {
    Builder b("wait", 2, r);
    b.after(b.recv(1 - r, {.buffer = kRecvBuffer}, kBytes), b.send(1 - r, {.buffer = kSendBuffer}, kBytes));
    both.push_back(*b.commit());
  }
  EXPECT_EQ(stories(both), std::set<std::string>{"wait, rank 0, node 0 never finishes"});
}

// Each sends and waits for the other to take it: well only where messages are buffered.
TEST(Simulation, ADeadlockOfSynchronousSendsIsFound) {
  std::vector<Schedule> both;
  for (std::uint32_t r = 0; r < 2; ++r) {
    Builder b("push", 2, r);
    b.after(b.send(1 - r, {.buffer = kSendBuffer}, kBytes), b.recv(1 - r, {.buffer = kRecvBuffer}, kBytes));
    both.push_back(*b.commit());
  }
  EXPECT_TRUE(stories(both).contains("push, rank 0, node 0 never finishes"));
  EXPECT_TRUE(stories(both).contains(""));
}

TEST(Simulation, MessagesOfDifferentSizesAreFound) {
  Builder a("sizes", 2, 0);
  a.send(1, {.buffer = kSendBuffer}, kBytes);
  Builder b("sizes", 2, 1);
  b.recv(0, {.buffer = kRecvBuffer}, kBytes / 2);
  EXPECT_EQ(stories({*a.commit(), *b.commit()}),
            std::set<std::string>{"sizes, rank 1, node 0 receives 8 bytes from rank 0 where it expects 4"});
}

TEST(Simulation, AMessageNobodyReceivesIsFound) {
  Builder a("lost", 2, 0);
  a.send(1, {.buffer = kSendBuffer}, kBytes);
  Builder b("lost", 2, 1);
  EXPECT_TRUE(stories({*a.commit(), *b.commit()}).contains("lost, rank 0, node 0 sends what nobody receives"));
}

TEST(Simulation, WorkOutsideABufferIsFound) {
  Builder a("outside", 1, 0);
  a.copy({.buffer = kSendBuffer}, {.buffer = kRecvBuffer, .offset = 1}, kBytes);
  EXPECT_EQ(stories({*a.commit()}), std::set<std::string>{"outside, rank 0, node 0 works outside buffer 1"});
}

}  // namespace
}  // namespace urakata::simulate::simulate_test
