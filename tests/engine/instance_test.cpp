// SPDX-License-Identifier: BSD-3-Clause
#include "engine/instance.hpp"

#include <gtest/gtest.h>

#include <array>

#include "cluster.hpp"

namespace urakata::simulated {
namespace {

using engine::Instance;
using schedule::Builder;
using schedule::kRecvBuffer;
using schedule::kSendBuffer;

constexpr std::uint64_t kSlice = schedule::kSliceBytes;

// inout += in on bytes; counts what it is given.
struct Adder {
  reduce::Reducer reducer;
  static inline std::atomic<std::uint64_t> bytes{0};

  Adder() {
    bytes = 0;
    reducer.apply = [](const reduce::Reducer&, const void* in, void* inout, std::uint64_t count) {
      const auto* left = static_cast<const std::uint8_t*>(in);
      auto* right = static_cast<std::uint8_t*>(inout);
      for (std::uint64_t i = 0; i < count; ++i) right[i] = static_cast<std::uint8_t>(left[i] + right[i]);
      bytes.fetch_add(count, std::memory_order_relaxed);
    };
  }
};

// Two bytes pass through temporaries whose numbers differ by 65 536.
TEST(Instance, KeepsManyTemporariesApart) {
  Builder b("many", 1, 0);
  const schedule::BufferId first = b.temp(1);
  for (int i = 1; i < 0x10000; ++i) b.temp(1);
  const schedule::BufferId other = b.temp(1);
  const auto in = b.copy({.buffer = kSendBuffer}, {.buffer = first}, 1);
  const auto in_other = b.copy({.buffer = kSendBuffer, .offset = 1}, {.buffer = other}, 1);
  const auto out = b.copy({.buffer = first}, {.buffer = kRecvBuffer}, 1);
  const auto out_other = b.copy({.buffer = other}, {.buffer = kRecvBuffer, .offset = 1}, 1);
  b.after(in, in_other);
  b.after(in_other, out);
  b.after(out, out_other);
  const auto schedule = *b.commit();

  Cluster cluster(1);
  Instance instance(schedule);
  std::vector<std::uint8_t> given{7, 9}, got{0, 0};
  instance.bind(kSendBuffer, address(given));
  instance.bind(kRecvBuffer, address(got));
  instance.bind_temps(0);
  cluster.start(0, instance);
  ASSERT_TRUE(cluster.settle());
  EXPECT_EQ(got, given);
}

// Rank r has r + 1 copies of r: everybody ends with 0 1 1 2 2 2 3 3 3 3. The same instances are started three times.
TEST(Instance, GathersAroundARing) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Cluster cluster(4, seed);
    std::vector<schedule::Schedule> schedules;
    for (int r = 0; r < 4; ++r) schedules.push_back(gather_ring(4, r));
    std::vector<std::unique_ptr<Instance>> instances;
    for (const auto& schedule : schedules) instances.push_back(std::make_unique<Instance>(schedule));
    for (int round = 0; round < 3; ++round) {
      std::vector<std::vector<std::uint8_t>> buffers(4, std::vector<std::uint8_t>(10, 0xee));
      for (int r = 0; r < 4; ++r) {
        auto& buffer = buffers[static_cast<std::size_t>(r)];
        std::fill_n(buffer.begin() + r * (r + 1) / 2, r + 1, static_cast<std::uint8_t>(r));
        instances[static_cast<std::size_t>(r)]->bind(kRecvBuffer, address(buffer));
        cluster.start(r, *instances[static_cast<std::size_t>(r)]);
      }
      ASSERT_TRUE(cluster.settle());
      for (int r = 0; r < 4; ++r) {
        EXPECT_EQ(instances[static_cast<std::size_t>(r)]->error, 0);
        EXPECT_TRUE(instances[static_cast<std::size_t>(r)]->finished());
        EXPECT_EQ(buffers[static_cast<std::size_t>(r)], (std::vector<std::uint8_t>{0, 1, 1, 2, 2, 2, 3, 3, 3, 3}));
      }
    }
    EXPECT_EQ(cluster.network().unmatched(), 0U);
  }
}

TEST(Instance, AScheduleWithoutNodesIsDoneAtOnce) {
  Cluster cluster(1);
  Builder builder("nothing", 1, 0);
  const auto schedule = made(builder);
  Instance instance(schedule);
  cluster.start(0, instance);
  EXPECT_FALSE(instance.finished());
  cluster.step();
  EXPECT_TRUE(instance.finished());
}

// A chain of three ranks: 40 chunks of 5 bytes, at most 4 in flight at a time, the last chunk shorter.
TEST(Instance, APipelineKeepsItsWindow) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Cluster cluster(3, seed);
    cluster.network().nothing_at_once();
    const std::uint64_t bytes = 198;
    const auto chunks = schedule::cut(bytes, 5);
    std::vector<schedule::Schedule> schedules;
    for (std::uint32_t r = 0; r < 3; ++r) {
      Builder builder("chain", 3, r);
      auto in = Builder::kNone;
      if (r != 0) in = builder.recv(r - 1, {.buffer = kRecvBuffer}, chunks, {.window = 4});
      if (r != 2) builder.each(in, builder.send(r + 1, {.buffer = kRecvBuffer}, chunks, {.window = 4}));
      schedules.push_back(made(builder));
    }
    std::vector<std::uint8_t> origin(bytes);
    std::iota(origin.begin(), origin.end(), std::uint8_t{0});
    std::vector<std::vector<std::uint8_t>> buffers(3, std::vector<std::uint8_t>(bytes));
    buffers[0] = origin;
    std::vector<std::unique_ptr<Instance>> instances;
    for (int r = 0; r < 3; ++r) {
      instances.push_back(std::make_unique<Instance>(schedules[static_cast<std::size_t>(r)]));
      instances.back()->bind(kRecvBuffer, address(buffers[static_cast<std::size_t>(r)]));
      cluster.start(r, *instances.back());
    }
    cluster.network().hold(true);
    for (int i = 0; i < 50; ++i) cluster.step();
    EXPECT_EQ(cluster.network().messages(), 4U) << "sent by rank 0; nothing has arrived that rank 1 could hand on";
    EXPECT_EQ(cluster.network().unmatched(), 4U) << "receives of rank 2; those of rank 1 are matched";
    cluster.network().hold(false);
    ASSERT_TRUE(cluster.settle());
    EXPECT_EQ(buffers[1], origin);
    EXPECT_EQ(buffers[2], origin);
    EXPECT_EQ(cluster.network().messages(), 2U * chunks.count);
    EXPECT_EQ(cluster.network().unmatched(), 0U);
  }
}

// 20 chunks through a temporary with room for 2: chunk i is received only when chunk i - 2 has been copied away.
TEST(Instance, ARingOfBuffersIsNotOverrun) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Cluster cluster(2, seed);
    const auto chunks = schedule::cut(100, 5);
    Builder sending("sender", 2, 0);
    sending.send(1, {.buffer = kSendBuffer}, chunks, {.window = 8});
    Builder receiving("receiver", 2, 1);
    const auto temp = receiving.temp(10);
    const schedule::Place place{.buffer = temp, .wrap = 2, .offset = 0, .stride = 5};
    const auto in = receiving.recv(0, place, chunks, {.window = 2});
    const auto out = receiving.copy(place, {.buffer = kRecvBuffer, .offset = 0, .stride = 5}, chunks);
    receiving.each(in, out);
    receiving.each(out, in, 2);
    const auto sender_schedule = made(sending);
    const auto receiver_schedule = made(receiving);
    Instance sender(sender_schedule);
    Instance receiver(receiver_schedule);
    std::vector<std::uint8_t> from(100);
    std::iota(from.begin(), from.end(), std::uint8_t{0});
    std::vector<std::uint8_t> to(100);
    sender.bind(kSendBuffer, address(from));
    receiver.bind(kRecvBuffer, address(to));
    receiver.bind_temps(0);
    cluster.start(0, sender);
    cluster.start(1, receiver);
    ASSERT_TRUE(cluster.settle());
    EXPECT_EQ(to, from);
  }
}

// 1 MiB is added, then copied, then unpacked: never more than 32 KiB in one step, and never a step without progress.
TEST(Instance, NoStepWorksOnMoreThanASlice) {
  constexpr std::uint64_t kBytes = 1 << 20;
  Cluster cluster(1);
  Builder builder("work", 1, 0);
  const auto temp = builder.temp(kBytes);
  const auto sum = builder.reduce({.buffer = kSendBuffer}, {.buffer = temp}, kBytes, 1);
  builder.each(sum, builder.copy({.buffer = temp}, {.buffer = kRecvBuffer}, kBytes));
  const auto schedule = made(builder);
  Adder adder;
  const Holes holes(3, 5);
  std::vector<std::uint8_t> left(kBytes, 1);
  std::vector<std::uint8_t> result(kBytes);
  constexpr std::uint64_t kElements = 100'000;
  std::vector<std::uint8_t> user(kElements * 5, 7);
  std::vector<std::uint8_t> packed(kElements * 3);
  Instance instance(schedule);
  instance.reducer = &adder.reducer;
  instance.bind(kSendBuffer, address(left));
  instance.bind(kRecvBuffer, address(result));
  instance.bind_temps(0);
  instance.packs = {{&holes, address(user), kElements, address(packed)}};
  instance.unpacks = {{&holes, address(user), kElements, address(packed)}};
  cluster.start(0, instance);
  std::uint64_t steps = 0;
  for (std::uint64_t before = 0; !instance.finished(); ++steps) {
    ASSERT_LT(steps, 1000U);
    const bool moved = cluster.step();
    const std::uint64_t now = Adder::bytes + holes.moved;
    ASSERT_LE(now - before, kSlice);
    ASSERT_TRUE(moved);
    before = now;
  }
  EXPECT_GE(steps, (2 * kBytes + 2 * 3 * kElements) / kSlice);
  EXPECT_EQ(Adder::bytes, kBytes);
  EXPECT_EQ(holes.moved, 2 * 3 * kElements);
}

TEST(Instance, APieceLongerThanASliceIsDoneInAStepOfItsOwn) {
  Cluster cluster(1);
  const std::uint64_t element = 3 * kSlice;
  Builder builder("long elements", 1, 0);
  builder.copy({.buffer = kSendBuffer}, {.buffer = kRecvBuffer}, 4 * element, element);
  const auto schedule = made(builder);
  std::vector<std::uint8_t> from(4 * element, 9);
  std::vector<std::uint8_t> to(4 * element, 0);
  Instance instance(schedule);
  instance.bind(kSendBuffer, address(from));
  instance.bind(kRecvBuffer, address(to));
  cluster.start(0, instance);
  for (std::uint64_t pieces = 1; pieces <= 4; ++pieces) {
    EXPECT_FALSE(instance.finished());
    cluster.step();
    EXPECT_EQ(static_cast<std::uint64_t>(std::count(to.begin(), to.end(), 9)), pieces * element);
  }
  EXPECT_TRUE(instance.finished());
}

TEST(Instance, OperationsOfTheProgramRunInCallersOnly) {
  Cluster cluster(1);
  Builder builder("user-defined", 1, 0);
  const auto sum = builder.reduce({.buffer = kSendBuffer}, {.buffer = kRecvBuffer}, 4, 1);
  builder.copy({.buffer = kSendBuffer}, {.buffer = kRecvBuffer, .offset = 4}, 4);  // goes on meanwhile
  builder.after(sum, builder.copy({.buffer = kSendBuffer}, {.buffer = kRecvBuffer, .offset = 8}, 4));
  const auto schedule = made(builder);
  Adder adder;
  adder.reducer.callers_only = true;
  std::vector<std::uint8_t> from(4, 1);
  std::vector<std::uint8_t> to(12, 1);
  Instance instance(schedule);
  instance.reducer = &adder.reducer;
  instance.bind(kSendBuffer, address(from));
  instance.bind(kRecvBuffer, address(to));
  cluster.start(0, instance);
  for (int i = 0; i < 10; ++i) cluster.step(false);
  EXPECT_EQ(Adder::bytes, 0U);
  EXPECT_FALSE(instance.finished());
  EXPECT_FALSE(cluster.step(false)) << "nothing moves, and a progress thread must not believe so";
  EXPECT_EQ(to, (std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(cluster.step(true));
  EXPECT_TRUE(instance.finished());
  EXPECT_EQ(to, (std::vector<std::uint8_t>{2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1}));
}

// Elements of 2 bytes, 3 apart, go from one rank to the other over temporaries; what is between them stays.
TEST(Instance, PacksBeforeAndUnpacksAfter) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Cluster cluster(2, seed);
    const Holes holes(2, 3);
    constexpr std::uint64_t kElements = 30'000;
    const schedule::Schedule schedules[] = {one_message(0, 2 * kElements), one_message(1, 2 * kElements)};
    Instance sender(schedules[0]);
    Instance receiver(schedules[1]);
    std::vector<std::uint8_t> from(3 * kElements);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = i % 3 == 2 ? 0xaa : static_cast<std::uint8_t>(i * 7);
    std::vector<std::uint8_t> to(3 * kElements, 0xbb);
    std::vector<std::uint8_t> packed(2 * kElements);
    std::vector<std::uint8_t> unpacked(2 * kElements);
    sender.bind(kSendBuffer, address(packed));
    sender.packs = {{&holes, address(from), 0, address(packed)}, {&holes, address(from), kElements, address(packed)}};
    receiver.bind(kRecvBuffer, address(unpacked));
    receiver.unpacks = {{&holes, address(to), kElements, address(unpacked)}};
    cluster.start(0, sender);
    cluster.start(1, receiver);
    ASSERT_TRUE(cluster.settle(false));
    for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], i % 3 == 2 ? 0xbb : from[i]) << i;
  }
}

// User-defined operations on elements with holes: messages and copies move the payload and leave the holes alone.
TEST(Instance, MessagesAndCopiesLeaveHolesUntouched) {
  Cluster cluster(2);
  const Holes holes(2, 4);
  Builder sending("sender", 2, 0);
  sending.send(1, {.buffer = kSendBuffer}, 6);
  Builder receiving("receiver", 2, 1);
  const auto temp = receiving.temp(12);
  const auto in = receiving.recv(0, {.buffer = temp}, 6);
  receiving.after(in, receiving.copy({.buffer = temp}, {.buffer = kRecvBuffer}, 6, 2));
  const auto sender_schedule = made(sending);
  const auto receiver_schedule = made(receiving);
  Instance sender(sender_schedule);
  Instance receiver(receiver_schedule);
  std::vector<std::uint8_t> from{1, 2, 0xaa, 0xaa, 3, 4, 0xaa, 0xaa, 5, 6, 0xaa, 0xaa};
  std::vector<std::uint8_t> to(12, 0xbb);
  sender.bind(kSendBuffer, address(from));
  receiver.bind(kRecvBuffer, address(to));
  receiver.bind_temps(0);
  sender.layout = receiver.layout = &holes;
  cluster.start(0, sender);
  cluster.start(1, receiver);
  ASSERT_TRUE(cluster.settle());
  EXPECT_EQ(to, (std::vector<std::uint8_t>{1, 2, 0xbb, 0xbb, 3, 4, 0xbb, 0xbb, 5, 6, 0xbb, 0xbb}));
}

// Elements begin 8 bytes before their address: the temporaries are shifted so that they begin where the memory does.
TEST(Instance, TemporariesAreShiftedByTheTrueLowerBound) {
  Cluster cluster(1);
  Builder builder("shifted", 1, 0);
  const auto first = builder.temp(4);
  const auto second = builder.temp(4);
  const auto a = builder.copy({.buffer = kSendBuffer}, {.buffer = first, .offset = -8}, 4);
  const auto b = builder.copy({.buffer = first, .offset = -8}, {.buffer = second, .offset = -8}, 4);
  const auto c = builder.copy({.buffer = second, .offset = -8}, {.buffer = kRecvBuffer}, 4);
  builder.after(a, b);
  builder.after(b, c);
  const auto schedule = made(builder);
  std::vector<std::uint8_t> from{1, 2, 3, 4};
  std::vector<std::uint8_t> to(4);
  Instance instance(schedule);
  instance.bind(kSendBuffer, address(from));
  instance.bind(kRecvBuffer, address(to));
  instance.bind_temps(-8);
  cluster.start(0, instance);
  ASSERT_TRUE(cluster.settle());
  EXPECT_EQ(to, from);
}

// Three receives are posted and two have met their messages when one of these fails: the third is taken back, no new
// one is posted, and the instance ends when the other message is in.
TEST(Instance, AnErrorEndsItOnlyWhenNothingUsesItsBuffers) {
  Cluster cluster(2);
  const auto chunks = schedule::cut(10, 1);
  Builder receiving("receiver", 2, 1);
  const auto in = receiving.recv(0, {.buffer = kRecvBuffer}, chunks, {.window = 3});
  receiving.each(in, receiving.copy({.buffer = kRecvBuffer}, {.buffer = kSendBuffer}, chunks));
  const auto schedule = made(receiving);
  std::vector<std::uint8_t> to(10);
  std::vector<std::uint8_t> copied(10);
  std::vector<std::uint8_t> user(8);
  Instance receiver(schedule);
  const Holes holes(1, 1);
  receiver.bind(kRecvBuffer, address(to));
  receiver.bind(kSendBuffer, address(copied));
  receiver.unpacks = {{&holes, address(user), 8, address(to)}};
  cluster.start(1, receiver);
  cluster.domain(1).advance(true);
  ASSERT_EQ(cluster.network().unmatched(), 3U);

  const auto sender = attach(cluster.network(), 0);
  std::uint8_t byte = 5;
  const transport::Message message{.address = reinterpret_cast<std::byte*>(&byte),
                                   .bytes = 1,
                                   .layout = nullptr,
                                   .peer = 1,
                                   .tag = cluster.group(0).tag_to(1, 0, 0)};
  cluster.network().fail_next(1, Network::Call::message, 42);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(sender->send(message, {}, nullptr), 0);
  for (int i = 0; i < 20; ++i) cluster.domain(1).advance(true);
  EXPECT_TRUE(receiver.finished());
  EXPECT_EQ(receiver.error, 42);
  EXPECT_EQ(cluster.domain(1).pending(), 0U);
  EXPECT_EQ(cluster.network().unmatched(), 0U) << "a receive is still posted";
  EXPECT_EQ(holes.moved, 0U) << "the result of a failed operation is not unpacked";
  EXPECT_EQ(std::ranges::count(to, byte), 2);
}

TEST(Instance, AMessageThatCannotBePostedEndsIt) {
  for (const auto call : {Network::Call::isend, Network::Call::irecv}) {
    Cluster cluster(2);
    const int rank = call == Network::Call::isend ? 0 : 1;
    const auto schedule = one_message(rank, 4);
    std::vector<std::uint8_t> bytes(4);
    Instance instance(schedule);
    instance.bind(kSendBuffer, address(bytes));
    instance.bind(kRecvBuffer, address(bytes));
    cluster.network().fail_next(rank, call, 17);
    cluster.start(rank, instance);
    cluster.domain(rank).advance(true);
    EXPECT_TRUE(instance.finished());
    EXPECT_EQ(instance.error, 17);
    // The next start is not told of the last one's error.
    TestGroup other(rank, 2, 2);
    submit(cluster.domain(rank), other, instance);
    cluster.domain(rank).advance(true);
    EXPECT_EQ(instance.error, 0);
  }
}

// Three operations are in flight when the MPI library says that a poll failed: all three end, and one of another group
// works.
TEST(Instance, AFailedPollEndsAllThatWasInFlight) {
  Cluster cluster(2);
  const schedule::Schedule schedules[] = {one_message(0, 4), one_message(1, 4)};
  std::vector<std::uint8_t> from{1, 2, 3, 4};
  std::vector<std::uint8_t> to(4);
  std::array<Instance, 3> receivers{Instance(schedules[1]), Instance(schedules[1]), Instance(schedules[1])};
  for (Instance& receiver : receivers) {
    receiver.bind(kRecvBuffer, address(to));
    cluster.start(1, receiver);
  }
  cluster.domain(1).advance(true);
  cluster.network().fail_next(1, Network::Call::poll, 23);
  cluster.domain(1).advance(true);
  for (const Instance& receiver : receivers) {
    EXPECT_TRUE(receiver.finished());
    EXPECT_EQ(receiver.error, 23);
  }
  EXPECT_FALSE(cluster.domain(1).unfinished());
  TestGroup others[] = {TestGroup(0, 2, 2), TestGroup(1, 2, 2)};
  Instance sender(schedules[0]);
  sender.bind(kSendBuffer, address(from));
  submit(cluster.domain(0), others[0], sender);
  submit(cluster.domain(1), others[1], receivers[0]);
  ASSERT_TRUE(cluster.settle());
  EXPECT_EQ(receivers[0].error, 0);
  EXPECT_EQ(to, from);
}

}  // namespace
}  // namespace urakata::simulated
