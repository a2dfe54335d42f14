// SPDX-License-Identifier: BSD-3-Clause
// Endpoints of processes on nodes of their own, over loopback: every kind of message arrives once, whole and in order,
// or fails where its connection is torn down.
#include "transport/link/wire_link.hpp"

#include <dirent.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "../seed.hpp"
#include "link_traffic.hpp"

namespace urakata::transport::wire_link_test {
namespace {

using namespace test;

class Ranks : public ::testing::TestWithParam<std::int32_t> {};

TEST_P(Ranks, EveryMessageArrivesOnceAndInOrder) {
  std::vector<Node> nodes = job(GetParam());
  exchange(nodes);
}
INSTANTIATE_TEST_SUITE_P(WireLink, Ranks, ::testing::Values(2, 3));

class WireLinkPair : public LinkPair {
 protected:
  static constexpr WireLink::Settings kSettings{.eager_bytes = 4096, .credit = 40'000};
  WireLinkPair() : LinkPair(job(2, kSettings)) {}
};

// 0 sends 1 2 3 ... to 1, which does not receive: what leaves is bounded by the credit, and all arrives in order.
TEST_F(WireLinkPair, CreditBoundsWhatIsUnexpected) {
  constexpr std::uint64_t kMany = 3000;
  std::uint64_t waiting = 0;
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    std::vector<std::uint64_t> number(16, i);
    if (Request* send = one().send(LinkPeer{1}, {1, 0, 0}, buffer(number), Mode::buffered)) {
      ++waiting;
      one().release(*send);
    }
    step();
  }
  EXPECT_EQ(waiting, kMany - kSettings.credit / (WireLink::kFrame + 128));
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    std::vector<std::uint64_t> got(16);
    Request& receive = other().receive({1, kAnySource, kAnyTag}, buffer(got));
    while (!receive.done()) step();
    other().release(receive);
    ASSERT_EQ(got, std::vector<std::uint64_t>(16, i));
  }
  while (!one().idle() || !nodes_[0].link->flushed()) step();
}

// 0 sends 1 2 3 ..., five times the credit, and then 0, which 1 receives first.
TEST_F(WireLinkPair, UnreceivedMessagesKeepNoLaterOneOut) {
  constexpr std::uint64_t kMany = 200;
  std::vector<std::vector<std::uint64_t>> numbers;
  std::vector<Request*> sends;
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    numbers.emplace_back(100, i);
    sends.push_back(one().send(LinkPeer{1}, {1, 0, 0}, buffer(numbers.back()), Mode::standard));
  }
  std::vector<std::uint64_t> last(100, 0);
  sends.push_back(one().send(LinkPeer{1}, {1, 0, 1}, buffer(last), Mode::standard));
  std::vector<std::uint64_t> got(100, 77);
  Request& receive = other().receive({1, 0, 1}, buffer(got));
  for (int steps = 0; steps < 1'000'000 && !receive.done(); ++steps) step();
  ASSERT_TRUE(receive.done());
  EXPECT_EQ(got, last);
  other().release(receive);
  for (const std::vector<std::uint64_t>& expected : numbers) {
    Request& next = other().receive({1, 0, 0}, buffer(got));
    while (!next.done()) step();
    ASSERT_EQ(got, expected);
    other().release(next);
  }
  for (Request* send : sends) {
    if (send == nullptr) continue;
    while (!send->done()) step();
    one().release(*send);
  }
  while (!nodes_[0].link->flushed() || !nodes_[1].link->flushed()) step();
}

// A message of 64 MiB is on its way when one of 8 B is sent: that arrives before.
TEST_F(WireLinkPair, ASmallMessageDoesNotStandBehindALongOne) {
  std::vector<std::uint64_t> out(8UL << 20, 7);
  std::vector<std::uint64_t> in(out.size());
  std::vector<std::uint64_t> small(1, 9);
  std::vector<std::uint64_t> got(1);
  Request& large = other().receive({1, 0, 1}, buffer(in));
  Request& receive = other().receive({1, 0, 2}, buffer(got));
  Request* const send = one().send(LinkPeer{1}, {1, 0, 1}, buffer(out), Mode::standard);
  ASSERT_NE(send, nullptr);
  while (in[0] == 0) step();
  EXPECT_EQ(one().send(LinkPeer{1}, {1, 0, 2}, buffer(small), Mode::standard), nullptr);
  EXPECT_FALSE(nodes_[0].link->flushed());
  while (!receive.done()) step();
  EXPECT_EQ(got[0], 9U);
  EXPECT_FALSE(large.done());
  while (!large.done() || !send->done() || !nodes_[0].link->flushed()) step();
  EXPECT_EQ(in, out);
  one().release(*send);
  other().release(large);
  other().release(receive);
}

// The same where the small one is a rendezvous: one element with holes, as many as fit an eager message, and none.
TEST_F(WireLinkPair, ASmallSynchronousMessageDoesNotStandBehindALongOne) {
  std::vector<std::uint64_t> out(8UL << 20, 7);
  std::vector<std::uint64_t> in(out.size());
  Request& large = other().receive({1, 0, 1}, buffer(in));
  Request* const send = one().send(LinkPeer{1}, {1, 0, 1}, buffer(out), Mode::standard);
  ASSERT_NE(send, nullptr);
  while (in[0] == 0) step();
  const Holes type;
  constexpr std::size_t kMost = 170;
  for (const std::size_t count : {std::size_t{1}, kMost, std::size_t{0}}) {
    std::vector<std::uint8_t> small(40 * kMost, 9);
    std::vector<std::uint8_t> got(40 * kMost);
    const auto elements = [&](std::vector<std::uint8_t>& of) {
      return Buffer{reinterpret_cast<std::byte*>(of.data()), count, &type};
    };
    Request& receive = other().receive({1, 0, 2}, elements(got));
    Request* const synchronous = one().send(LinkPeer{1}, {1, 0, 2}, elements(small), Mode::synchronous);
    ASSERT_NE(synchronous, nullptr);
    while (!receive.done() || !synchronous->done()) step();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool sent = i < 40 * count && i % 40 < 32 && i % 40 % 12 < 8;
      ASSERT_EQ(got[i], sent ? 9 : 0) << i;
    }
    one().release(*synchronous);
    other().release(receive);
  }
  EXPECT_FALSE(large.done());
  while (!large.done() || !send->done() || !nodes_[0].link->flushed()) step();
  EXPECT_EQ(in, out);
  one().release(*send);
  other().release(large);
}

// Whoever sleeps by the descriptor is woken by what comes: 0 and 1 send 8 B to and fro, each only when it is told.
TEST_F(WireLinkPair, TheDescriptorTells) {
  const auto wait = [](Node& node, const Request* receive) {
    while (!receive->done()) {
      pollfd told{.fd = node.link->descriptor(), .events = POLLIN, .revents = 0};
      ASSERT_EQ(::poll(&told, 1, 60'000), 1);
      node.endpoint->progress();
    }
  };
  constexpr int kTurns = 200;
  const auto turns = [&](std::int32_t own) {
    Node& node = nodes_[static_cast<std::size_t>(own)];
    for (std::uint64_t i = 0; i < kTurns; ++i) {
      for (const bool mine : {own == 0, own != 0}) {
        std::vector<std::uint64_t> number(1, mine ? i : 0);
        if (mine) {
          EXPECT_EQ(node.endpoint->send(LinkPeer{1 - own}, {1, own, 0}, buffer(number), Mode::standard), nullptr);
          continue;
        }
        Request& receive = node.endpoint->receive({1, 1 - own, 0}, buffer(number));
        wait(node, &receive);
        EXPECT_EQ(number[0], i);
        node.endpoint->release(receive);
      }
    }
  };
  // The first message needs the sender, too, while the connection is made.
  std::atomic<bool> made{false};
  std::thread second([&] {
    turns(1);
    made = true;
  });
  turns(0);
  while (!made) one().progress();
  second.join();
}

// 0 sends 1 2 3 ... and ends when the link says that it may; 1, which has not looked and writes to it meanwhile, has
// all.
TEST_F(WireLinkPair, WhoEndsWhenAllIsFlushedLosesNothing) {
  constexpr std::uint64_t kMany = 20;
  std::vector<std::uint64_t> number(1);
  Request& first = other().receive({1, 0, 0}, buffer(number));
  one().send(LinkPeer{1}, {1, 0, 0}, buffer(number), Mode::standard);
  while (!first.done()) step();
  other().release(first);
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    std::vector<std::uint64_t> out(100, i);
    EXPECT_EQ(one().send(LinkPeer{1}, {1, 0, 0}, buffer(out), Mode::standard), nullptr);
  }
  while (!one().idle() || !nodes_[0].link->flushed()) one().progress();
  nodes_[0] = {};
  Request* last = nullptr;
  while (last == nullptr) last = other().send(LinkPeer{0}, {1, 1, 0}, buffer(number), Mode::standard);
  std::vector<std::uint64_t> in(100);
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    Request& request = other().receive({1, kAnySource, 0}, buffer(in));
    while (!request.done()) other().progress();
    EXPECT_EQ(request.result.outcome, Outcome::good);
    EXPECT_EQ(in, std::vector<std::uint64_t>(100, i));
    other().release(request);
  }
  while (!last->done()) other().progress();
  EXPECT_EQ(last->result.outcome, Outcome::failed);
  other().release(*last);
}

// Who waits for a peer with which nothing has been exchanged yet can have its loss noticed, too.
TEST(WireLink, TheLossOfAWatchedPeerIsNoticed) {
  std::vector<Node> nodes = job(3);
  Endpoint& here = *nodes[0].endpoint;
  std::uint64_t got = 0;
  const auto receive = [&](std::int32_t source) -> Request& {
    return here.receive({1, source, 0}, {reinterpret_cast<std::byte*>(&got), sizeof got, nullptr});
  };
  Request& named = receive(1);
  Request& any = receive(kAnySource);
  here.watch(2, 1, true, LinkPeer{1});  // another context's
  here.watch(1, 2, false, LinkPeer{2});
  here.watch(1, 1, false, LinkPeer{1});
  for (const std::size_t gone : {std::size_t{1}, std::size_t{2}}) {
    nodes[gone].endpoint.reset();
    nodes[gone].link.reset();
    nodes[gone].wire.reset();
  }
  while (!here.lost(LinkPeer{1})) here.progress();
  EXPECT_FALSE(here.lost(LinkPeer{2}));
  here.watch(1, 2, true, LinkPeer{2});
  while (!here.lost(LinkPeer{2})) here.progress();
  for (Request* request : {&named, &any}) {
    EXPECT_TRUE(here.cancel(*request));
    here.release(*request);
  }
}

// Rank 1 does not accept, and its accept queue is full, for longer than rank 0's timeout: the message arrives when it
// does.
TEST(WireLink, AProcessThatDoesNotAcceptIsNoLoss) {
  std::vector<Node> nodes;
  for (auto& wire : impatient_pair(failures)) {
    Node& node = nodes.emplace_back();
    node.wire = std::move(wire);
    node.link = std::move(*WireLink::open(*node.wire, {}));
    node.endpoint = std::make_unique<Endpoint>(p2p::Callers::one);
    node.endpoint->attach(*node.link);
  }
  std::uint64_t number = 5, got = 0;
  const auto buffer = [](std::uint64_t& word) {
    return Buffer{reinterpret_cast<std::byte*>(&word), sizeof word, nullptr};
  };
  Request* send = nullptr;
  {
    const FullAcceptQueue full(listener_at(nodes[1].wire->listen_port()));
    send = nodes[0].endpoint->send(LinkPeer{1}, {1, 0, 0}, buffer(number), Mode::synchronous);
    std::set<std::uint16_t> asked;
    while (asked.size() < 8) {
      nodes[0].endpoint->progress();
      ASSERT_FALSE(nodes[0].link->is_lost(LinkPeer{1}));
      asked.merge(ports_that_ask());
    }
  }
  Request& receive = nodes[1].endpoint->receive({1, 0, 0}, buffer(got));
  while (!receive.done() || !send->done()) {
    for (Node& node : nodes) node.endpoint->progress();
  }
  EXPECT_EQ(got, number);
  nodes[0].endpoint->release(*send);
  nodes[1].endpoint->release(receive);
}

// The kernel is asked now and then, and at once where the caller says so.
TEST_F(WireLinkPair, WhoeverTestsInALoopIsToldAtOnce) {
  std::vector<std::uint64_t> number(1, 5);
  std::vector<std::uint64_t> got(1);
  ASSERT_EQ(one().send(LinkPeer{1}, {1, 0, 0}, buffer(number), Mode::standard), nullptr);
  Request& first = other().receive({1, 0, 0}, buffer(got));
  while (!first.done()) step();  // they are connected
  other().release(first);
  number[0] = 6;
  ASSERT_EQ(one().send(LinkPeer{1}, {1, 0, 0}, buffer(number), Mode::standard), nullptr);
  while (!nodes_[0].link->flushed()) one().progress();
  Request& receive = other().receive({1, 0, 0}, buffer(got));
  const WireLink& link = *nodes_[1].link;
  for (int round = 0; round < 2; ++round) {
    link.ask_next();
    EXPECT_TRUE(link.can_progress());
    EXPECT_FALSE(link.can_progress());
  }
  while (!receive.done()) step();
  EXPECT_EQ(got[0], 6U);
  other().release(receive);
}

// A child of the program sees every peer as failed, and the parent's messages go on.
TEST_F(WireLinkPair, AForkedChildTouchesNothing) {
  std::vector<std::uint64_t> number(1, 5);
  std::vector<std::uint64_t> got(1);
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(one().send(LinkPeer{1}, {1, 0, 0}, buffer(number), Mode::standard), nullptr);
    Request& receive = other().receive({1, 0, 0}, buffer(got));
    const pid_t child = fork();
    if (child == 0) {
      const bool still = !nodes_[1].link->can_progress() && !other().progress() &&
                         nodes_[1].link->is_lost(LinkPeer{0}) &&
                         other().send(LinkPeer{0}, {1, 1, 0}, buffer(number), Mode::standard) != nullptr;
      _exit(still ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    while (!receive.done()) step();
    EXPECT_EQ(std::exchange(got[0], 0), 5U);
    other().release(receive);
  }
}

// Ends one of this process's TCP connections, whichever.
void cut_one(std::mt19937_64& random) {
  std::vector<int> sockets;
  DIR* const directory = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(directory)) {
    const int descriptor = std::atoi(entry->d_name);
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) == 0 &&
        (peer.ss_family == AF_INET || peer.ss_family == AF_INET6)) {
      sockets.push_back(descriptor);
    }
  }
  closedir(directory);
  if (!sockets.empty()) shutdown(sockets[random() % sockets.size()], SHUT_RDWR);
}

// Both send each other messages of all sizes, and one of their connections is cut at any time: what has not arrived
// whole fails, and nothing hangs.
TEST(WireLink, ATornConnectionFailsWhatNeedsIt) {
  std::mt19937_64 random(drawn_seed());
  std::size_t good = 0;
  std::size_t lost = 0;
  for (int round = 0; round < 20; ++round) {
    constexpr std::size_t kMessages = 12;
    std::vector<Node> nodes = job(2);
    struct Side {
      std::array<Room, kMessages> out;
      std::array<Room, kMessages> in;
      std::array<Request*, kMessages> sends{};
      std::array<Request*, kMessages> receives{};
    };
    std::array<Side, 2> sides;
    for (std::int32_t own = 0; own < 2; ++own) {
      Side& side = sides[static_cast<std::size_t>(own)];
      Endpoint& here = *nodes[static_cast<std::size_t>(own)].endpoint;
      for (std::size_t i = 0; i < kMessages; ++i) {
        const auto tag = static_cast<std::int32_t>(i);
        side.in[i].make(2'100'000, i % 2 == 0);
        side.receives[i] = &here.receive({1, 1 - own, tag}, side.in[i].buffer);
        Header header{own, tag, i, random() % 4 == 0 ? 2'000'000 : 24 + size_of(random() | 1)};
        side.out[i].make(header.bytes, false);
        side.out[i].write(payload_of(header));
        side.sends[i] = here.send(LinkPeer{1 - own}, {1, own, tag}, side.out[i].buffer, static_cast<Mode>(i % 3));
      }
    }
    const auto step = [&] {
      for (Node& node : nodes) node.endpoint->progress();
    };
    for (std::uint64_t steps = random() % 200; steps > 0; --steps) step();
    cut_one(random);
    const auto all_done = [&](const auto& requests) {
      return std::ranges::all_of(requests, [](const Request* one) { return one == nullptr || one->done(); });
    };
    for (bool open = true; open;) {
      step();
      open = false;
      for (std::int32_t own = 0; own < 2; ++own) {
        const auto at = static_cast<std::size_t>(own);
        // As whoever runs the job does: a peer that has failed is failed for all.
        const bool failed = nodes[0].link->is_lost(LinkPeer{1}) || nodes[1].link->is_lost(LinkPeer{0});
        if (failed) nodes[at].endpoint->fail_receives(1, 1 - own);
        open = open || !all_done(sides[at].sends) || !all_done(sides[at].receives);
      }
    }
    for (std::size_t own = 0; own < 2; ++own) {
      Endpoint& here = *nodes[own].endpoint;
      for (std::size_t i = 0; i < kMessages; ++i) {
        const p2p::Result& result = sides[own].receives[i]->result;
        if (result.outcome == Outcome::good) {
          ++good;
          const auto got = sides[own].in[i].read(result.bytes);
          EXPECT_EQ(got, sides[1 - own].out[i].read(sides[1 - own].out[i].buffer.bytes())) << "round " << round;
        } else {
          ++lost;
          EXPECT_EQ(result.outcome, Outcome::failed);
        }
        here.release(*sides[own].receives[i]);
        if (sides[own].sends[i] != nullptr) here.release(*sides[own].sends[i]);
      }
    }
  }
  printf("%zu messages arrived, %zu failed\n", good, lost);
  EXPECT_TRUE(good != 0 && lost != 0);
}

}  // namespace
}  // namespace urakata::transport::wire_link_test
