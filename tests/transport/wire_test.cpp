// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/wire.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "../no_more_descriptors.hpp"
#include "../seed.hpp"
#include "base/clock.hpp"
#include "loopback.hpp"
#include "transport/group.hpp"
#include "transport/wire/wire_port.hpp"

namespace urakata::transport {
namespace {

Failures failures(kFailure);  // of all processes

std::vector<std::unique_ptr<Wire>> job(std::int32_t ranks) { return wires_of(ranks, failures); }

Message message(std::vector<std::byte>& bytes, int peer, int tag) {
  return {.address = bytes.data(), .bytes = bytes.size(), .layout = nullptr, .peer = peer, .tag = tag};
}

std::vector<std::byte> filled(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

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

// Polls both until each has that many completions.
std::vector<Completion> both(WirePort& a, std::size_t of_a, WirePort& b, std::size_t of_b) {
  std::vector<Completion> all;
  for (int i = 0; i < 10'000'000 && (of_a != 0 || of_b != 0); ++i) {
    for (const Completion& one : a.poll()) all.push_back(one), --of_a;
    for (const Completion& one : b.poll()) all.push_back(one), --of_b;
  }
  EXPECT_EQ(of_a + of_b, 0U) << "messages that never ended";
  return all;
}

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

// Sockets that are connected: both ends of each connection between the wires of a job.
std::size_t connected() {
  std::size_t count = 0;
  for (int one = 0; one < 1024; ++one) {
    sockaddr_storage other{};
    socklen_t size = sizeof other;
    if (getpeername(one, reinterpret_cast<sockaddr*>(&other), &size) == 0 && other.ss_family != AF_UNIX) ++count;
  }
  return count;
}

// Whoever begins, and if both do: all that was sent arrives in order, on one connection.
TEST(Wire, APairHasOneConnection) {
  for (const unsigned first : {1U, 2U, 3U}) {  // bits: ranks that send before they hear of the other
    SCOPED_TRACE(first);
    const std::size_t before = connected();
    auto wires = job(2);
    std::vector<std::unique_ptr<WirePort>> ports;
    for (auto& wire : wires) ports.push_back(std::make_unique<WirePort>(*wire));
    constexpr std::size_t kSizes[] = {0, 100, Wire::kEager + 1, 5000};
    std::array<std::vector<std::vector<std::byte>>, 2> sent;
    std::array<std::vector<std::vector<std::byte>>, 2> room;
    const auto send_all = [&](std::size_t rank) {
      for (const std::size_t size : kSizes) sent[rank].push_back(filled(size, static_cast<unsigned>(rank + size)));
      for (auto& one : sent[rank]) ports[rank]->send(message(one, 1 - static_cast<int>(rank), 0), {}, nullptr);
    };
    for (const std::size_t rank : {0U, 1U}) {
      if ((first >> rank & 1U) != 0) send_all(rank);
    }
    for (const std::size_t rank : {0U, 1U}) {
      for (const std::size_t size : kSizes) room[rank].emplace_back(size);
      for (auto& one : room[rank]) ports[rank]->recv(message(one, 1 - static_cast<int>(rank), 0), {}, nullptr);
    }
    if (first != 3) {
      const std::size_t later = first == 1 ? 1 : 0;
      while (ports[later]->in_flight() != 0) {
        for (auto& port : ports) port->poll();
      }
      send_all(later);
    }
    while (ports[0]->in_flight() + ports[1]->in_flight() != 0) {
      for (auto& port : ports) {
        for (const Completion& one : port->poll()) ASSERT_EQ(one.error, 0);
      }
    }
    EXPECT_EQ(sent[0], room[1]);
    EXPECT_EQ(sent[1], room[0]);
    for (int i = 0; i < 100; ++i) ports[0]->poll(), ports[1]->poll();
    EXPECT_EQ(connected() - before, 2U);
  }
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

TEST(Wire, AMessageIsReportedToThePortThatPostedItAndWakesIt) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  WirePort here(*wires[1]);
  WirePort other(*wires[1]);
  auto bytes = filled(10, 1);
  std::vector<std::byte> room(10);
  bool finished = false;
  ASSERT_EQ(here.recv(message(room, 0, 0), {nullptr, 7, 0}, &finished), 0);
  ASSERT_FALSE(finished);
  ASSERT_EQ(a.send(message(bytes, 1, 0), {}, nullptr), 0);
  while (a.in_flight() != 0) a.poll();
  pollfd bell{.fd = here.descriptors().back(), .events = POLLIN, .revents = 0};
  while (poll(&bell, 1, 0) == 0) EXPECT_TRUE(other.poll().empty());
  const auto reported = here.poll();
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_EQ(reported.front().ticket.node, 7U);
  EXPECT_EQ(room, bytes);
  EXPECT_EQ(poll(&bell, 1, 0), 0) << "the bell still rings";
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

TEST(Wire, APeerThatEndsFailsWhatWaitsForIt) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  std::vector<std::byte> room(10);
  auto bytes = filled(10, 1);
  auto large = filled(Wire::kEager + 1, 1);
  {
    WirePort b(*wires[1]);
    ASSERT_EQ(a.recv(message(room, 1, 0), {}, nullptr), 0);
    ASSERT_EQ(b.send(message(bytes, 0, 0), {}, nullptr), 0);
    both(a, 1, b, 1);
    ASSERT_EQ(a.recv(message(room, 1, 0), {}, nullptr), 0);
    ASSERT_EQ(a.send(message(large, 1, 0), {}, nullptr), 0);  // waits for its receive
    for (int i = 0; i < 100; ++i) a.poll(), b.poll();
  }
  wires[1].reset();
  std::size_t failed = 0;
  while (a.in_flight() != 0) {
    for (const Completion& one : a.poll()) failed += one.error == kFailure ? 1 : 0;
  }
  EXPECT_EQ(failed, 2U);
  bool finished = false;
  EXPECT_EQ(a.recv(message(room, 1, 0), {}, &finished), kFailure);
  EXPECT_TRUE(finished);
}

// A connection to the Wire that has named the job's secret and itself as this rank. The Wire's greeting is read.
int connected_as(std::int32_t rank, Wire& to) {
  const int caller = socket(AF_INET, SOCK_STREAM, 0);
  const ListenAddress listener = loopback(to.listen_port());
  EXPECT_EQ(connect(caller, reinterpret_cast<const sockaddr*>(&listener.address), listener.length), 0);
  const Frame hello{.kind = FrameKind::hello, .tag = rank, .bytes = kSecret.low, .id = kSecret.high};
  EXPECT_EQ(send(caller, &hello, sizeof hello, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof hello));
  Frame answer{};
  ssize_t got = -1;
  for (int i = 0; i < 10'000'000 && got < 0; ++i) {
    to.step();
    got = recv(caller, &answer, sizeof answer, MSG_DONTWAIT);
  }
  EXPECT_EQ(answer.kind, FrameKind::hello_ack);
  return caller;
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

TEST(Wire, AHandshakeFindsTheRightListenerAndNobodyElseIsAccepted) {
  auto wires = job(2);
  auto foreign = Wire::open(1, {.low = 1, .high = 2}, failures, kTimeout);
  ASSERT_TRUE(foreign.ok());
  const std::array listen_addresses{loopback((*foreign)->listen_port()), loopback(wires[0]->listen_port()),
                                    loopback(wires[1]->listen_port())};
  wires[0]->prober().probe(listen_addresses, 1);
  for (int i = 0; i < 10'000'000 && wires[0]->prober().answer(1).opened < 0; ++i) {
    for (Wire* one : {wires[0].get(), wires[1].get(), foreign->get()}) one->step();
  }
  EXPECT_EQ(wires[0]->prober().answer(1).opened, 2);
  wires[0]->prober().end();

  // What does not know the secret is shown out, whatever it says.
  WirePort port(*wires[0]);
  std::vector<std::byte> room(8);
  ASSERT_EQ(port.recv(message(room, 1, 0), {}, nullptr), 0);
  const int caller = socket(AF_INET, SOCK_STREAM, 0);
  const ListenAddress listener = loopback(wires[0]->listen_port());
  ASSERT_EQ(connect(caller, reinterpret_cast<const sockaddr*>(&listener.address), listener.length), 0);
  const Frame lie{.kind = FrameKind::message, .tag = 0, .bytes = 8, .id = 0};
  ASSERT_EQ(send(caller, &lie, sizeof lie, 0), static_cast<ssize_t>(sizeof lie));
  ASSERT_EQ(send(caller, "mischief", 8, MSG_NOSIGNAL), 8);
  pollfd end{.fd = caller, .events = POLLIN, .revents = 0};
  while (poll(&end, 1, 0) == 0) EXPECT_TRUE(port.poll().empty());
  EXPECT_EQ(port.in_flight(), 1U);
  close(caller);
}

// Nothing wakes who sleeps, and the connection is accepted when there is a descriptor for it.
TEST(Wire, WhoCannotBeAcceptedWakesNobody) {
  auto wires = job(1);
  const int caller = socket(AF_INET, SOCK_STREAM, 0);
  pollfd ready{.fd = wires[0]->descriptor(), .events = POLLIN, .revents = 0};
  {
    const NoMoreDescriptors none;
    const ListenAddress listener = loopback(wires[0]->listen_port());
    ASSERT_EQ(connect(caller, reinterpret_cast<const sockaddr*>(&listener.address), listener.length), 0);
    ASSERT_EQ(poll(&ready, 1, -1), 1);
    bool wakes = true;
    for (int i = 0; i < 1000 && wakes; ++i) {
      wires[0]->step();
      wakes = poll(&ready, 1, 0) != 0;
    }
    EXPECT_FALSE(wakes);
  }
  const Frame probe{.kind = FrameKind::probe, .tag = 1, .bytes = kSecret.low, .id = kSecret.high};
  ASSERT_EQ(send(caller, &probe, sizeof probe, 0), static_cast<ssize_t>(sizeof probe));
  Frame answer;
  std::array<pollfd, 2> either{ready, {.fd = caller, .events = POLLIN, .revents = 0}};
  while (recv(caller, &answer, sizeof answer, MSG_DONTWAIT) != sizeof answer) {
    ASSERT_GT(poll(either.data(), either.size(), -1), 0);
    wires[0]->step();
  }
  EXPECT_EQ(answer.kind, FrameKind::hello_ack);
  close(caller);
}

// Both sides are told how far a payload is, piece by piece; what they were told by the end is in the ticket.
TEST(Wire, TellsHowFarAPayloadIs) {
  auto wires = job(2);
  std::array<WirePort, 2> ports{WirePort(*wires[0]), WirePort(*wires[1])};
  std::vector<std::byte> from = filled(20'000'000, 1);
  std::vector<std::byte> to(from.size());
  const std::atomic<std::uint32_t> waiting{0};
  std::array<ProgressCount, 2> progress;
  for (auto& one : progress) one.begin(waiting);
  ports[0].send(message(from, 1, 5), {.instance = this, .progress = &progress[0]}, nullptr);
  ports[1].recv(message(to, 0, 5), {.instance = this, .progress = &progress[1]}, nullptr);
  std::array<std::uint64_t, 2> before{}, steps{};
  std::size_t open = 2;
  for (int i = 0; i < 10'000'000 && open != 0; ++i) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      for (const Completion& one : ports[rank].poll()) {
        EXPECT_EQ(one.ticket.told, progress[rank].all());
        --open;
      }
      EXPECT_GE(progress[rank].all(), before[rank]);
      steps[rank] += progress[rank].all() != before[rank] ? 1 : 0;
      before[rank] = progress[rank].all();
    }
  }
  EXPECT_EQ(open, 0U);
  EXPECT_EQ(to, from);
  EXPECT_GE(steps[0], 2U);
  EXPECT_GE(steps[1], 10U);
  for (const std::uint64_t told : before) EXPECT_LE(told, from.size());
}

// An operation of each rank is given up with messages in every state: none is reported, none is read from or written to
// its buffers afterwards, and another operation's messages between the two go on.
TEST(Wire, WhatIsGivenUpTouchesNoBufferAnyMore) {
  const unsigned seed = drawn_seed();
  std::mt19937 random(seed);
  constexpr int kOver = 7 << Group::kContextShift;
  constexpr std::size_t kSizes[] = {0, 100, 100'000, Wire::kEager + 1, 3'000'000};
  for (int round = 0; round < 60; ++round) {
    auto wires = job(2);
    std::array<std::unique_ptr<WirePort>, 2> ports{std::make_unique<WirePort>(*wires[0]),
                                                   std::make_unique<WirePort>(*wires[1])};
    int failed = 0;  // instances are told apart by address only
    const std::atomic<std::uint32_t> waiting{0};
    auto progress = std::make_unique<ProgressCount>();  // of those that are given up
    progress->begin(waiting);
    int other = 0;
    std::deque<std::vector<std::byte>> sent;
    std::deque<std::vector<std::byte>> room;
    for (int i = 0; i < 8; ++i) {
      const auto rank = random() % 2;
      const std::size_t which = random() % std::size(kSizes);
      const std::size_t size = kSizes[which];
      const int tag = kOver + static_cast<int>(which);
      if (random() % 3 != 0) {
        sent.push_back(filled(size, 1));
        ports[rank]->send(message(sent.back(), 1 - static_cast<int>(rank), tag), {&failed, 0, 0, progress.get()},
                          nullptr);
      }
      if (random() % 3 != 0) {
        room.emplace_back(size);
        ports[1 - rank]->recv(message(room.back(), static_cast<int>(rank), tag), {&failed, 0, 0, progress.get()},
                              nullptr);
      }
      for (auto left = random() % 4; left != 0; --left) ports[random() % 2]->poll();
    }
    for (const std::size_t rank : {0U, 1U}) {
      ports[rank]->cancel(&failed);
      ports[rank]->tell(1 - static_cast<int>(rank), {.from = static_cast<int>(rank), .origin = 7, .context = 7});
    }
    for (auto& bytes : sent) std::vector<std::byte>().swap(bytes);  // whoever reads or writes now is found out
    for (auto& bytes : room) std::vector<std::byte>().swap(bytes);
    progress.reset();
    auto from = filled(200'000, 3);
    std::vector<std::byte> to(from.size());
    ports[0]->send(message(from, 1, 1), {&other, 0, 0}, nullptr);
    ports[1]->recv(message(to, 0, 1), {&other, 0, 0}, nullptr);
    std::size_t open = 2;
    for (int i = 0; i < 1'000'000 && open != 0; ++i) {
      for (auto& port : ports) {
        for (const Completion& one : port->poll()) open -= one.ticket.instance == &other ? 1 : 0;
      }
    }
    ASSERT_EQ(open, 0U) << "round " << round;
    EXPECT_EQ(to, from);
    EXPECT_EQ(ports[0]->in_flight() + ports[1]->in_flight(), 0U);
  }
}

TEST(Wire, ThePeerIsToldOfAFailure) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  WirePort b(*wires[1]);
  const std::size_t before = failures.count();
  a.tell(1, {.from = 0, .origin = 300, .context = 5});
  for (int i = 0; i < 1'000'000 && failures.count() == before; ++i) a.poll(), b.poll();
  std::vector<Notice> notices;
  failures.read(notices);
  ASSERT_EQ(notices.size(), before + 1);
  EXPECT_EQ(notices.back().from, 0);
  EXPECT_EQ(notices.back().origin, 300);
  EXPECT_EQ(notices.back().context, 5);
}

// The connection turns out to be broken when rank 0 tells of the failure, and not by a poll: what waits for that peer
// in other communicators ends all the same.
TEST(Wire, WhoIsToBeToldAndIsGoneIsLost) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  auto bytes = filled(10, 1);
  std::vector<std::byte> room(10);
  {
    WirePort b(*wires[1]);
    ASSERT_EQ(b.send(message(bytes, 0, 0), {}, nullptr), 0);
    ASSERT_EQ(a.recv(message(room, 1, 0), {}, nullptr), 0);
    both(a, 1, b, 1);
    ASSERT_EQ(a.send(message(bytes, 1, 0), {}, nullptr), 0);
    while (a.in_flight() != 0) a.poll();
  }
  ASSERT_EQ(a.recv(message(room, 1, 0), {}, nullptr), 0);
  wires[1].reset();  // with bytes that it has not read: the connection is reset
  a.tell(1, {.from = 0, .origin = 301, .context = 5});
  std::vector<int> errors;
  for (int i = 0; i < 1'000'000 && errors.empty(); ++i) {
    for (const Completion& one : a.poll()) errors.push_back(one.error);
  }
  EXPECT_EQ(errors, std::vector{kFailure});
}

// Rank 1 does not accept, and its accept queue is full: rank 0's connection is made anew seven times, which is longer
// than its timeout. Then rank 1 accepts, and the message arrives.
TEST(Wire, AProcessThatDoesNotAcceptIsNoLoss) {
  auto wires = impatient_pair(failures);
  WirePort a(*wires[0]);
  WirePort b(*wires[1]);
  auto bytes = filled(1000, 1);
  std::vector<std::byte> room(bytes.size());
  {
    const FullAcceptQueue full(listener_at(wires[1]->listen_port()));
    ASSERT_EQ(a.send(message(bytes, 1, 0), {}, nullptr), 0);
    std::set<std::uint16_t> asked;
    while (asked.size() < 8) {
      ASSERT_TRUE(a.poll().empty());
      asked.merge(ports_that_ask());
    }
  }
  ASSERT_EQ(b.recv(message(room, 0, 0), {}, nullptr), 0);
  for (const Completion& one : both(a, 1, b, 1)) EXPECT_EQ(one.error, 0);
  EXPECT_EQ(room, bytes);
}

// The same where nothing answers at the node at all: the peer is lost.
TEST(Wire, ANodeThatDoesNotAnswerIsALoss) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    auto wires = impatient_pair(failures);
    const int beside = socket(AF_INET, SOCK_STREAM, 0);
    const ListenAddress address = loopback(wires[1]->listen_port() ^ 1U);
    const bool bound = bind(beside, reinterpret_cast<const sockaddr*>(&address.address), address.length) == 0 &&
                       listen(beside, 0) == 0;
    if (bound) {
      WirePort a(*wires[0]);
      const FullAcceptQueue full(listener_at(wires[1]->listen_port())), silent(beside);
      auto bytes = filled(10, 1);
      ASSERT_EQ(a.send(message(bytes, 1, 0), {}, nullptr), 0);
      std::vector<Completion> all;
      while (all.empty()) {
        for (const Completion& one : a.poll()) all.push_back(one);
      }
      EXPECT_EQ(all.front().error, kFailure);
    }
    close(beside);
    if (bound) return;
  }
  GTEST_SKIP() << "no port is free beside another";
}

// Rank 0's first connection is closed before rank 1 has answered on it, with one message in it and the begin of
// another: both go over the next connection, in order.
TEST(Wire, WhatAnUnansweredConnectionHadGoesOverAnother) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  WirePort b(*wires[1]);
  auto first = filled(1000, 1), second = filled(Wire::kEager, 2);
  std::vector<std::byte> room_first(first.size()), room_second(second.size());
  ASSERT_EQ(a.send(message(first, 1, 0), {}, nullptr), 0);
  std::size_t sent = 0;
  while (sent == 0) sent += a.poll().size();
  bool finished = false;
  ASSERT_EQ(a.send(message(second, 1, 0), {}, &finished), 0);
  const int taken = accept(listener_at(wires[1]->listen_port()), nullptr, nullptr);
  ASSERT_GE(taken, 0);
  close_at_once(taken);
  close(taken);
  ASSERT_EQ(b.recv(message(room_first, 0, 0), {}, nullptr), 0);
  ASSERT_EQ(b.recv(message(room_second, 0, 0), {}, nullptr), 0);
  for (const Completion& one : both(a, finished ? 0 : 1, b, 2)) EXPECT_EQ(one.error, 0);
  EXPECT_EQ(room_first, first);
  EXPECT_EQ(room_second, second);
}

// More connect to rank 0 than may be unauthenticated, and say nothing. As long as they are young, a peer connects
// beside them; then the oldest are closed until no more than may be are left.
TEST(Wire, TheOldestSilentConnectionsAreClosedOnceTheyAreNotYoung) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  WirePort b(*wires[1]);
  const ListenAddress listener = loopback(wires[0]->listen_port());
  constexpr std::size_t kTooMany = 10;
  std::vector<int> silent;
  for (std::size_t i = 0; i < Wire::kMostUnauthenticated + kTooMany; ++i) {
    silent.push_back(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(silent.back(), reinterpret_cast<const sockaddr*>(&listener.address), listener.length), 0);
    a.poll();
  }
  auto bytes = filled(10, 1);
  std::vector<std::byte> room(10);
  ASSERT_EQ(b.send(message(bytes, 0, 0), {}, nullptr), 0);
  ASSERT_EQ(a.recv(message(room, 1, 0), {}, nullptr), 0);
  both(a, 1, b, 1);
  EXPECT_EQ(room, bytes);
  for (std::size_t i = 0; i < kTooMany; ++i) {
    pollfd end{.fd = silent[i], .events = POLLIN, .revents = 0};
    for (int polls = 0; polls < 100'000'000 && poll(&end, 1, 0) == 0; ++polls) a.poll();
    EXPECT_NE(end.revents, 0) << i;
  }
  for (int i = 0; i < 1000; ++i) a.poll();
  for (std::size_t i = 0; i < silent.size(); ++i) {
    char byte = 0;
    EXPECT_EQ(recv(silent[i], &byte, 1, MSG_DONTWAIT) == 0, i < kTooMany) << i;
    close(silent[i]);
  }
}

// The first of more connections than may be unauthenticated sends its probe's frame when all have been accepted.
TEST(Wire, AYoungConnectionIsKeptUntilItsProbeCame) {
  auto wires = job(1);
  const ListenAddress listener = loopback(wires[0]->listen_port());
  const std::uint64_t begin = now_ns();
  std::vector<int> young;
  for (std::size_t i = 0; i < Wire::kMostUnauthenticated + 10; ++i) {
    young.push_back(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(young.back(), reinterpret_cast<const sockaddr*>(&listener.address), listener.length), 0);
    wires[0]->step();
  }
  const Frame probe{.kind = FrameKind::probe, .tag = 1, .bytes = kSecret.low, .id = kSecret.high};
  ASSERT_EQ(send(young.front(), &probe, sizeof probe, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof probe));
  const bool late = now_ns() - begin > kFirstBytesTime;
  Frame answer{};
  ssize_t got = -1;
  for (int i = 0; i < 1'000'000 && got < 0; ++i) {
    wires[0]->step();
    got = recv(young.front(), &answer, sizeof answer, MSG_DONTWAIT);
  }
  for (const int one : young) close(one);
  if (late) GTEST_SKIP() << "this machine was too slow";
  EXPECT_EQ(got, static_cast<ssize_t>(sizeof answer));
  EXPECT_EQ(answer.kind, FrameKind::hello_ack);
}

// More connect than are accepted before they name the secret, and none says anything: all are closed, and the peer's
// message arrives.
TEST(Wire, UnauthenticatedConnectionsThatSayNothingAreClosed) {
  constexpr std::uint64_t kShort = 4;  // ns: each check is due at once
  auto made = Wire::open(0, kSecret, failures, kShort);
  ASSERT_TRUE(made.ok());
  auto wire = std::move(*made);
  auto other = std::move(*Wire::open(1, kSecret, failures, kTimeout));
  const std::vector<ListenAddress> listen_addresses{loopback(wire->listen_port()), loopback(other->listen_port())};
  wire->set_addresses(listen_addresses);
  other->set_addresses(listen_addresses);
  WirePort a(*wire);
  WirePort b(*other);
  std::vector<int> unauthenticated;
  for (std::size_t i = 0; i < Wire::kMostUnauthenticated + 10; ++i) {
    unauthenticated.push_back(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(unauthenticated.back(), reinterpret_cast<const sockaddr*>(&listen_addresses[0].address),
                      listen_addresses[0].length),
              0);
  }
  auto bytes = filled(10, 1);
  std::vector<std::byte> room(10);
  ASSERT_EQ(b.send(message(bytes, 0, 0), {}, nullptr), 0);
  ASSERT_EQ(a.recv(message(room, 1, 0), {}, nullptr), 0);
  both(a, 1, b, 1);
  EXPECT_EQ(room, bytes);
  for (const int one : unauthenticated) {
    pollfd end{.fd = one, .events = POLLIN, .revents = 0};
    for (int i = 0; i < 1'000'000 && poll(&end, 1, 0) == 0; ++i) a.poll();
    EXPECT_NE(end.revents, 0);
    close(one);
  }
}

}  // namespace
}  // namespace urakata::transport
