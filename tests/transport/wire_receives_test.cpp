// SPDX-License-Identifier: BSD-3-Clause
// Which message meets which receive, over real sockets, and what becomes of one that does not fit or has no end.
#include "transport/wire/wire_receives.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "../seed.hpp"
#include "transport/wire/frame.hpp"
#include "wire_job.hpp"

namespace urakata::transport::wire_test::wire_receives_test {
namespace {

// Bytes at every second place.
class Holes final : public layout::Layout {
 public:
  Holes() {
    size = 1;
    extent = 2;
    contiguous = false;
  }
  void pack(const std::byte* base, std::uint64_t first, std::uint64_t count, std::byte* packed) const override {
    for (std::uint64_t i = 0; i < count; ++i) packed[i] = base[2 * (first + i)];
  }
  void unpack(const std::byte* packed, std::byte* base, std::uint64_t first, std::uint64_t count) const override {
    for (std::uint64_t i = 0; i < count; ++i) base[2 * (first + i)] = packed[i];
  }
};

// Three processes send each other messages of all lengths under few tags, posted early or late: each receive gets
// the next message of its peer and tag.
TEST(Wire, MessagesOfAPeerAndTagMeetInOrder) {
  const unsigned seed = drawn_seed();
  std::mt19937 random(seed);
  auto wires = job(3);
  std::vector<std::unique_ptr<WirePort>> ports;
  for (auto& wire : wires) ports.push_back(std::make_unique<WirePort>(*wire));
  struct Slot {
    std::vector<std::byte> sent;
    std::vector<std::byte> room;
  };
  std::deque<Slot> slots;
  struct Queue {
    std::size_t sends = 0;
    std::size_t receives = 0;
    std::vector<Slot*> slots;
  };
  std::map<std::array<int, 3>, Queue> queues;  // from, to, tag
  constexpr std::size_t kSizes[] = {0, 1, 24, 100, 4000, 4096, 32768, 131072, 131073, 1'000'000};
  constexpr int kMessages = 600;
  std::size_t open = 0;
  int made = 0;
  while (made < kMessages || open != 0) {
    const int from = static_cast<int>(random() % 3);
    const int to = (from + 1 + static_cast<int>(random() % 2)) % 3;
    const int tag = static_cast<int>(random() % 3);
    Queue& queue = queues[{from, to, tag}];
    if (made < kMessages && random() % 2 == 0) {
      Slot& slot = slots.emplace_back();
      slot.sent = filled(kSizes[random() % std::size(kSizes)], static_cast<unsigned>(random()));
      slot.room.resize(slot.sent.size());
      queue.slots.push_back(&slot);
      ++made;
    }
    bool finished = false;
    if (queue.sends < queue.slots.size() && random() % 2 == 0) {
      Slot& slot = *queue.slots[queue.sends++];
      ASSERT_EQ(ports[static_cast<std::size_t>(from)]->send(message(slot.sent, to, tag), {nullptr, 0, 0}, &finished),
                0);
      if (!finished) ++open;
    }
    if (queue.receives < queue.slots.size() && random() % 2 == 0) {
      Slot& slot = *queue.slots[queue.receives++];
      ASSERT_EQ(ports[static_cast<std::size_t>(to)]->recv(message(slot.room, from, tag), {nullptr, 1, 0}, &finished),
                0);
      if (!finished) ++open;
    }
    if (made == kMessages) {  // the rest of everything
      for (auto& [ends, rest] : queues) {
        for (; rest.sends < rest.slots.size(); ++rest.sends) {
          Slot& slot = *rest.slots[rest.sends];
          ports[static_cast<std::size_t>(ends[0])]->send(message(slot.sent, ends[1], ends[2]), {}, nullptr);
          ++open;
        }
        for (; rest.receives < rest.slots.size(); ++rest.receives) {
          Slot& slot = *rest.slots[rest.receives];
          ports[static_cast<std::size_t>(ends[1])]->recv(message(slot.room, ends[0], ends[2]), {}, nullptr);
          ++open;
        }
      }
    }
    for (auto& port : ports) {
      for (const Completion& one : port->poll()) {
        ASSERT_EQ(one.error, 0);
        --open;
      }
    }
  }
  for (auto& port : ports) EXPECT_EQ(port->in_flight(), 0U);
  for (const Slot& slot : slots) ASSERT_EQ(slot.sent, slot.room);
}

TEST(Wire, ElementsWithHolesArePackedAndUnpacked) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  WirePort b(*wires[1]);
  const Holes holes;
  for (const std::size_t count : {100U, 300'000U}) {
    auto from = filled(2 * count, 1);
    auto to = filled(2 * count, 2);
    const auto before = to;
    Message out = message(from, 1, 0);
    Message in = message(to, 0, 0);
    out.bytes = in.bytes = count;
    out.layout = in.layout = &holes;
    ASSERT_EQ(a.send(out, {}, nullptr), 0);
    ASSERT_EQ(b.recv(in, {}, nullptr), 0);
    both(a, 1, b, 1);
    for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], i % 2 == 0 ? from[i] : before[i]) << i;
  }
}

TEST(Wire, AMessageThatIsTooLongIsAnErrorAndTheNextOneArrives) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  WirePort b(*wires[1]);
  auto longer = filled(100, 1);
  auto bytes = filled(10, 2);
  std::vector<std::byte> room(10);
  std::vector<std::byte> next(10);
  ASSERT_EQ(b.recv(message(room, 0, 0), {nullptr, 1, 0}, nullptr), 0);
  ASSERT_EQ(b.recv(message(next, 0, 0), {nullptr, 2, 0}, nullptr), 0);
  ASSERT_EQ(a.send(message(longer, 1, 0), {}, nullptr), 0);
  ASSERT_EQ(a.send(message(bytes, 1, 0), {}, nullptr), 0);
  for (const Completion& one : both(a, 2, b, 2)) EXPECT_EQ(one.error, one.ticket.node == 1 ? kFailure : 0);
  EXPECT_EQ(next, bytes);
}

// The peer ends while a message that nobody has asked for is coming in: a receive that is posted later fails.
TEST(Wire, AMessageOfWhichOnlyAPartHasComeFailsItsReceive) {
  auto wires = job(2);
  wires[1].reset();  // its rank is played by the socket below
  WirePort port(*wires[0]);
  const int peer = connected_as(1, *wires[0]);
  const Frame head{.kind = FrameKind::message, .tag = 0, .bytes = 1000, .id = 0};
  ASSERT_EQ(send(peer, &head, sizeof head, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof head));
  ASSERT_EQ(send(peer, "a part", 6, MSG_NOSIGNAL), 6);
  for (int i = 0; i < 1000; ++i) port.poll();
  close(peer);
  std::vector<std::byte> room(1000);
  std::vector<std::byte> probe(8);
  ASSERT_EQ(port.recv(message(probe, 1, 1), {}, nullptr), 0);  // fails when the loss is known
  while (port.in_flight() != 0) port.poll();
  bool finished = false;
  EXPECT_EQ(port.recv(message(room, 1, 0), {}, &finished), kFailure);
  EXPECT_TRUE(finished);
}

// Payload without bytes for a receive that does not exist is ignored.
TEST(Wire, PayloadOfAnUnknownReceiveIsIgnored) {
  auto wires = job(2);
  wires[1].reset();
  WirePort port(*wires[0]);
  const int peer = connected_as(1, *wires[0]);
  const Frame stray{.kind = FrameKind::payload, .tag = 0, .bytes = 0, .id = 77};
  const Frame good{.kind = FrameKind::message, .tag = 0, .bytes = 0, .id = 0};
  ASSERT_EQ(send(peer, &stray, sizeof stray, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof stray));
  ASSERT_EQ(send(peer, &good, sizeof good, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof good));
  std::vector<std::byte> room;
  ASSERT_EQ(port.recv(message(room, 1, 0), {}, nullptr), 0);
  while (port.in_flight() != 0) {
    for (const Completion& one : port.poll()) EXPECT_EQ(one.error, 0);
  }
  close(peer);
}

}  // namespace
}  // namespace urakata::transport::wire_test::wire_receives_test
