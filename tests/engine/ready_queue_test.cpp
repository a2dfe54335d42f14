// SPDX-License-Identifier: BSD-3-Clause
// How often an instance looks at its nodes, and what it does first.
#include "engine/ready_queue.hpp"

#include <gtest/gtest.h>

#include "cluster.hpp"

namespace urakata::simulated {
namespace {

using engine::Instance;
using engine::ReadyQueue;
using schedule::Builder;
using schedule::kRecvBuffer;
using schedule::kSendBuffer;

// 1 2 3 pushed; 3 is put off behind the others, twice round the ring of three.
TEST(ReadyQueue, IsAStackWhoseLateNodesGoBehindTheOthers) {
  ReadyQueue queue(3);
  for (const schedule::NodeId node : {1U, 2U, 3U}) queue.push(node);
  for (const schedule::NodeId expected : {3U, 2U, 1U, 3U, 2U, 1U}) {
    const schedule::NodeId node = queue.pop();
    EXPECT_EQ(node, expected);
    queue.put_off(node);
  }
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(queue.pops(), 6U);
  queue.clear();
  EXPECT_EQ(queue.size(), 0U);
}

// 8 MiB are added and copied, slice after slice, a slice a step, beside a copy of their own: 768 slices. Each step
// looks at one node that works, and at one that waits for it; the queue never holds a node twice. Started again, the
// same.
TEST(ReadyQueue, LooksAtEachNodeOnceAStepHoweverLongItWorks) {
  constexpr std::uint64_t kBytes = 256 * schedule::kSliceBytes;
  Cluster cluster(1);
  Builder builder("work", 1, 0);
  const auto temp = builder.temp(kBytes);
  const auto sum = builder.reduce({.buffer = kSendBuffer}, {.buffer = temp}, kBytes, 1);
  builder.each(sum, builder.copy({.buffer = temp}, {.buffer = kRecvBuffer}, kBytes));
  builder.copy({.buffer = kSendBuffer}, {.buffer = kRecvBuffer, .offset = kBytes}, kBytes);
  const auto schedule = made(builder);
  reduce::Reducer first;
  first.apply = [](const reduce::Reducer&, const void*, void*, std::uint64_t) {};
  std::vector<std::uint8_t> from(kBytes, 1), to(2 * kBytes);
  Instance instance(schedule);
  instance.reducer = &first;
  instance.bind(kSendBuffer, address(from));
  instance.bind(kRecvBuffer, address(to));
  instance.bind_temps(0);
  for (int round = 1; round <= 2; ++round) {
    const std::uint64_t before = instance.looked_at();
    std::uint64_t steps = 0;
    cluster.start(0, instance);
    for (; !instance.finished(); ++steps) {
      ASSERT_LT(steps, 1000U);
      cluster.step();
      ASSERT_LE(instance.queued(), schedule.nodes().size());
    }
    EXPECT_GE(steps, 3 * 256U);
    EXPECT_LE(instance.looked_at() - before, 2 * steps) << "round " << round;
  }
}

// 100 short messages, of which some are done as soon as they are posted, a window of 4: one call posts at most 4, and
// says that it could go on where the window has room again.
TEST(ReadyQueue, OneCallPostsAWindowOfMessages) {
  int could_go_on = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Network network(seed);
    const auto transport = attach(network, 0);
    TestGroup group(0, 2, 1);
    Builder builder("stream", 2, 0);
    builder.send(1, {.buffer = kSendBuffer}, schedule::cut(100, 1), {.window = 4});
    const auto schedule = made(builder);
    std::vector<std::uint8_t> from(100, 1);
    Instance instance(schedule);
    instance.bind(kSendBuffer, address(from));
    prepare(group, instance);
    instance.activate();
    for (std::uint64_t before = 0; before < 100; before = network.messages()) {
      engine::Budget budget{.bytes = 0, .any = false};
      const bool all = instance.advance(*transport, budget);
      ASSERT_LE(network.messages() - before, 4U);
      EXPECT_EQ(network.messages() - before, budget.messages);
      if (!all) ++could_go_on;
      if (all) break;  // the rest wait for a receiver, which there is not
    }
  }
  EXPECT_GT(could_go_on, 0);
}

// Messages cost no budget: the one behind a long copy, and the one that a slice makes ready, leave when each copy has
// had a turn.
TEST(ReadyQueue, MessagesDoNotWaitForWork) {
  constexpr std::uint64_t kBytes = 64 * schedule::kSliceBytes;
  Cluster cluster(2);
  cluster.network().nothing_at_once();
  Builder builder("work and messages", 2, 0);
  builder.copy({.buffer = kSendBuffer}, {.buffer = kRecvBuffer}, kBytes);
  const auto slice =
      builder.copy({.buffer = kSendBuffer}, {.buffer = kRecvBuffer, .offset = kBytes}, schedule::kSliceBytes);
  builder.send(1, {.buffer = kSendBuffer}, 8);
  builder.after(slice, builder.send(1, {.buffer = kSendBuffer}, 8, 1));
  const auto schedule = made(builder);
  std::vector<std::uint8_t> from(kBytes, 1), to(kBytes + schedule::kSliceBytes);
  Instance instance(schedule);
  instance.bind(kSendBuffer, address(from));
  instance.bind(kRecvBuffer, address(to));
  cluster.start(0, instance);
  cluster.domain(0).advance(false);
  EXPECT_GE(cluster.network().messages(), 1U);
  cluster.domain(0).advance(false);
  EXPECT_EQ(cluster.network().messages(), 2U) << "each of the copies has had its turn";
}

}  // namespace
}  // namespace urakata::simulated
