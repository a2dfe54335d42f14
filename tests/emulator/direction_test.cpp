// SPDX-License-Identifier: BSD-3-Clause
// A segment of 1500 bytes over 12 Mb/s and 5 ms: it is sent for 1 ms, and comes out after 6 ms.
#include "emulator/direction.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "packets.hpp"

namespace urakata::emulator {
namespace {

using namespace testing;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kLargeQueue = 1 << 30;

struct Arrival {
  std::uint64_t due;
  std::uint16_t port;
  std::uint32_t segments;
  std::uint32_t sequence;
};

// Steps from event to event, as a caller that is never late would.
std::vector<Arrival> all_of(Direction& direction) {
  std::vector<Arrival> arrivals;
  while (direction.next() != Direction::kNever) {
    const std::uint64_t now = direction.next();
    direction.advance(now);
    while (direction.due(now)) {
      const Delivery delivery = direction.take();
      arrivals.push_back({delivery.due, delivery.packet.flow().source_port, delivery.packet.segments(),
                          get32(delivery.packet.bytes(), kVirtio + kIp + 4)});
    }
  }
  return arrivals;
}

std::uint64_t segments_of(const std::vector<Arrival>& arrivals) {
  std::uint64_t sum = 0;
  for (const Arrival& arrival : arrivals) sum += arrival.segments;
  return sum;
}

Settings settings(std::uint64_t delay_ms, std::uint64_t rate, std::uint64_t flow_rate) {
  return {delay_ms * kMs, rate, kLargeQueue, flow_rate, kLargeQueue, 0};
}

TEST(Direction, WithoutRatesThereIsOnlyDelay) {
  Direction direction;
  direction.set(settings(5, 0, 0));
  direction.offer(tcp(40 * kSegment), 1 * kMs);
  direction.offer(tcp(10), 2 * kMs);
  const auto arrivals = all_of(direction);
  ASSERT_EQ(arrivals.size(), 2U);
  EXPECT_EQ(arrivals[0].due, 6 * kMs);
  EXPECT_EQ(arrivals[0].segments, 40U);
  EXPECT_EQ(arrivals[1].due, 7 * kMs);
}

TEST(Direction, LinkSendsOneSegmentAfterTheOther) {
  Direction direction;
  direction.set(settings(5, 12'000'000, 0));
  direction.offer(tcp(3 * kSegment), 0);  // runs of at most 1 ms: three of one segment
  const auto arrivals = all_of(direction);
  ASSERT_EQ(arrivals.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(arrivals[i].due, (6 + i) * kMs);
}

TEST(Direction, EachFlowHasItsRateAndTogetherTheyHaveTheLinks) {
  Direction direction;
  direction.set(settings(0, 24'000'000, 12'000'000));
  for (std::uint16_t port = 1; port <= 3; ++port) direction.offer(tcp(40 * kSegment, port), 0);
  std::map<std::uint16_t, std::uint64_t> last;
  std::uint64_t end = 0;
  for (const Arrival& arrival : all_of(direction)) end = last[arrival.port] = arrival.due;
  EXPECT_EQ(end, 61 * kMs);  // 120 segments of 0.5 ms, after the 1 ms in which a flow sends its first: the link is full
  for (std::uint16_t port = 1; port <= 3; ++port) EXPECT_GE(last[port], 58 * kMs);

  Direction alone;
  alone.set(settings(0, 24'000'000, 12'000'000));
  alone.offer(tcp(40 * kSegment), 0);
  EXPECT_NEAR(static_cast<double>(all_of(alone).back().due), 40.5 * kMs,
              0.1 * kMs);  // the flow's rate, then the link's
}

TEST(Direction, LatenessOfTheCallerShiftsNothing) {
  Direction on_time;
  Direction late;
  std::vector<std::uint64_t> dues;
  for (Direction* direction : {&on_time, &late}) {
    direction->set(settings(8, 400'000'000, 25'000'000));
    for (std::uint16_t port = 1; port < 20; ++port) direction->offer(tcp(20 * kSegment, port), port * 1000U);
  }
  for (const Arrival& arrival : all_of(on_time)) dues.push_back(arrival.due);
  late.advance(1'000'000 * kMs);
  std::vector<std::uint64_t> seen;
  while (late.due(1'000'000 * kMs)) seen.push_back(late.take().due);
  EXPECT_EQ(seen, dues);
}

TEST(Direction, FlowsOwnOrderIsKept) {
  Direction direction;
  direction.set(settings(1, 0, 25'000'000));
  direction.offer(tcp(kSegment, 1), 0);
  direction.set(settings(1, 0, 0));  // the one that waits is not overtaken
  direction.offer(tcp(2 * kSegment, 1), 1000);
  const auto arrivals = all_of(direction);
  ASSERT_EQ(arrivals.size(), 2U);
  EXPECT_EQ(arrivals[0].segments, 1U);
  EXPECT_EQ(arrivals[1].segments, 2U);
}

TEST(Direction, FullQueueDropsTheTailSegmentBySegment) {
  for (const bool of_flow : {false, true}) {
    Direction direction;
    Settings small = of_flow ? settings(0, 0, 12'000'000) : settings(0, 12'000'000, 0);
    small.queue = of_flow ? kLargeQueue : 10 * 1500;
    small.flow_queue = of_flow ? 10 * 1500 : kLargeQueue;
    direction.set(small);
    direction.offer(tcp(40 * kSegment), 0);
    const auto arrivals = all_of(direction);
    EXPECT_EQ(segments_of(arrivals), 10U);
    EXPECT_EQ(arrivals.back().sequence, kSequence + 9 * kSegment);
    EXPECT_EQ(direction.counters().dropped, 30U);
    EXPECT_EQ(direction.counters().delivered, 10U);
    EXPECT_EQ(direction.counters().offered_bytes, 40U * 1500);
    direction.offer(tcp(kSegment), 100 * kMs);  // there is room again
    EXPECT_EQ(segments_of(all_of(direction)), 1U);
  }
}

TEST(Direction, LossTakesSegmentsOutOfAPacket) {
  Direction direction;
  Settings lossy = settings(1, 0, 0);
  lossy.loss = 0.1;
  direction.set(lossy);
  direction.seed(3);
  for (int i = 0; i < 100; ++i) direction.offer(tcp(40 * kSegment), static_cast<std::uint64_t>(i) * kMs);
  const auto arrivals = all_of(direction);
  EXPECT_GT(arrivals.size(), 100U);  // packets came in parts
  EXPECT_EQ(segments_of(arrivals) + direction.counters().lost, 4000U);
  EXPECT_GT(direction.counters().lost, 250U);
  EXPECT_LT(direction.counters().lost, 550U);
  EXPECT_EQ(direction.flows().begin()->second.counters.lost, direction.counters().lost);
}

TEST(Direction, CutLinkAndCutFlowDropWhatIsOffered) {
  Direction direction;
  direction.set(settings(5, 0, 0));
  direction.offer(tcp(kSegment, 1), 0);
  direction.rule({{.source_port = 2}, std::nullopt, true});
  direction.offer(tcp(kSegment, 1), 1);
  direction.offer(tcp(3 * kSegment, 2), 1);
  direction.cut(true);
  direction.offer(tcp(kSegment, 1), 2);
  EXPECT_EQ(all_of(direction).size(), 2U);  // what was on its way arrives
  direction.cut(false);
  direction.rule({{.source_port = 2}, std::nullopt, false});
  direction.offer(tcp(kSegment, 2), 3);
  EXPECT_EQ(all_of(direction).size(), 1U);
  EXPECT_EQ(direction.counters().cut, 4U);
}

TEST(Direction, RulesGiveFlowsOtherRates) {
  Direction direction;
  direction.set(settings(0, 0, 12'000'000));
  direction.rule({{.source = 0x0A570001, .destination = 0x0A570101}, 24'000'000, std::nullopt});
  direction.rule({{.source_port = 7}, std::nullopt, true});  // leaves the rate as it is
  direction.rule({{.source_port = 7}, std::nullopt, false});
  direction.rule({{.destination = 0x0A570109}, 1'000'000, std::nullopt});  // nobody
  direction.offer(tcp(2 * kSegment, 7), 0);
  EXPECT_EQ(all_of(direction).back().due, 1 * kMs);
}

}  // namespace
}  // namespace urakata::emulator
