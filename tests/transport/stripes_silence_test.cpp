// SPDX-License-Identifier: BSD-3-Clause
// Stripes whose other end is silent: given up where others go on, an error where none does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "loopback.hpp"
#include "stripes_job.hpp"
#include "transport/stripes/stripes.hpp"
#include "transport/wire/tcp_facts.hpp"

namespace urakata::transport::stripes_silence_test {
namespace {

// Time that passes when the test says so, for the stripes as for what the kernel tells of their connections.
namespace passed {
std::uint64_t ns = 0;
std::uint64_t checks = 0;  // by stripes of their connections
int held = -1;             // the one socket for which it passes

std::uint64_t now() { return now_ns() + ns; }
TcpFacts facts(int socket) {
  ++checks;
  TcpFacts found = tcp_facts(socket);
  found.since_ack_ms += static_cast<std::uint32_t>(ns / 1'000'000);
  return found;
}
// A network that takes everything and brings nothing.
TcpFacts facts_of_silent(int socket) {
  TcpFacts found = facts(socket);
  found.not_acknowledged = std::max(found.not_acknowledged, 1U);
  return found;
}
bool silent = false;
TcpFacts facts_while_silent(int socket) { return silent ? facts_of_silent(socket) : facts(socket); }
TcpFacts facts_of_held(int socket) {
  if (socket == held) return facts_of_silent(socket);
  ++checks;
  return tcp_facts(socket);
}
}  // namespace passed

// The first of four stripes breaks no connection and acknowledges nothing: the other three bring what it had.
TEST(Stripes, WhatASilentStripeHadGoesOverOthers) {
  passed::ns = passed::checks = 0;
  passed::held = -1;
  Job job(2, {.congestion = "", .now = passed::now, .facts = passed::facts_of_held});
  while (job.stripes[0]->traffic()[1].stripes < 4) pass_on(job, 8'000'000);
  passed::held = sockets_to(*job.wires[1]).front();
  std::vector<std::byte> sent = filled(40'000'000, 1), room(sent.size());
  std::size_t open = 2;
  job.ports[0]->send({.address = sent.data(), .bytes = sent.size(), .layout = nullptr, .peer = 1, .tag = 5}, {},
                     nullptr);
  job.ports[1]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 0, .tag = 5}, {},
                     nullptr);
  const std::uint64_t before = passed::checks;
  while (passed::checks == before) open -= job.ports[0]->poll().size();  // nobody reads, so every stripe has something
  passed::ns += 2'000'000'000;
  while (job.stripes[0]->traffic()[1].lost == 0) open -= job.ports[0]->poll().size();
  passed::held = -1;  // the number may be that of another socket soon
  ASSERT_EQ(open, 2U);
  finish(job, open);
  EXPECT_EQ(job.stripes[0]->traffic()[1].lost, 1U);
  EXPECT_GT(job.stripes[0]->traffic()[1].again, 0U);
  EXPECT_TRUE(sent == room);
}

// Likewise the only one that there is: another one is made, and brings it.
TEST(Stripes, WhatTheOnlyStripeHadGoesOverAnother) {
  passed::ns = passed::checks = 0;
  passed::held = -1;
  Job job(2, {.streams = 1, .congestion = "", .now = passed::now, .facts = passed::facts_of_held});
  pass_on(job, 100'000);
  passed::held = sockets_to(*job.wires[1]).front();
  std::vector<std::byte> sent = filled(40'000'000, 1), room(sent.size());
  std::size_t open = 2;
  job.ports[0]->send({.address = sent.data(), .bytes = sent.size(), .layout = nullptr, .peer = 1, .tag = 5}, {},
                     nullptr);
  const std::uint64_t before = passed::checks;
  while (passed::checks == before) open -= job.ports[0]->poll().size();  // nobody reads, so it has something
  passed::ns += 2'000'000'000;
  while (job.stripes[0]->traffic()[1].lost == 0) {  // the other process answers who connects
    for (auto& port : job.ports) open -= port->poll().size();
  }
  passed::held = -1;
  ASSERT_EQ(open, 2U);
  job.ports[1]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 0, .tag = 5}, {},
                     nullptr);
  finish(job, open);
  EXPECT_EQ(job.stripes[0]->traffic()[1].lost, 1U);
  EXPECT_TRUE(sent == room);
}

void await_check(Job& job) {
  const std::uint64_t before = passed::checks;
  while (passed::checks == before) job.ports[1]->poll();
}

// An acknowledgement may be lost with its stripe, and then what it was for comes again: whoever has sent it goes on
// until it has arrived, and where the stripe is lost before that, for good.
TEST(Stripes, WhoHasAcknowledgedGoesOnUntilThatHasArrived) {
  passed::ns = passed::checks = 0;
  passed::silent = true;
  Job job(2, {.streams = 1, .congestion = "", .now = passed::now, .facts = passed::facts_while_silent});
  pass_on(job, 100'000);
  await_check(job);
  EXPECT_FALSE(job.ports[0]->flushing());
  EXPECT_TRUE(job.ports[1]->flushing());
  passed::silent = false;
  while (job.ports[1]->flushing()) job.ports[1]->poll();

  passed::silent = true;
  pass_on(job, 100'000);
  job.cut(1, 0);
  while (!sockets_to(*job.wires[1]).empty()) {
    for (auto& port : job.ports) port->poll();
  }
  passed::silent = false;
  pass_on(job, 100'000);
  await_check(job);
  EXPECT_TRUE(job.ports[1]->flushing());
  EXPECT_FALSE(job.ports[0]->flushing());
}

// Rank 1 does not accept, and its accept queue is full, for three times the timeout: the message arrives when it does.
TEST(Stripes, AProcessThatDoesNotAcceptIsNoLoss) {
  passed::ns = passed::checks = 0;
  Job job(2, {.congestion = "", .now = passed::now, .facts = passed::facts});
  std::vector<std::byte> sent = filled(1000, 1), room(sent.size());
  std::size_t open = 0;
  bool finished = false;
  {
    const FullAcceptQueue full(listener_at(job.wires[1]->listen_port()));
    job.ports[0]->send({.address = sent.data(), .bytes = sent.size(), .layout = nullptr, .peer = 1, .tag = 5}, {},
                       &finished);
    open += finished ? 0U : 1U;
    while (passed::ns < 3 * kTimeout) {
      const std::uint64_t before = passed::checks;
      while (passed::checks == before) ASSERT_TRUE(job.ports[0]->poll().empty());
      passed::ns += kTimeout / 3;
    }
  }
  job.ports[1]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 0, .tag = 5}, {},
                     &finished);
  finish(job, open + (finished ? 0U : 1U));
  EXPECT_TRUE(sent == room);
}

bool never(NodeProbe& /*node*/) { return false; }

// Nothing is heard of any stripe: not before the timeout, and soon after it, a send and a receive end with an error.
TEST(Stripes, SilenceOfAllStripesIsAnErrorAfterTheTimeout) {
  passed::ns = passed::checks = 0;
  Job job(2, {.congestion = "", .now = passed::now, .facts = passed::facts_of_silent, .answered = never});
  pass_on(job, 100'000);
  std::vector<std::byte> sent = filled(40'000'000, 1), room(1000);
  job.ports[0]->send({.address = sent.data(), .bytes = sent.size(), .layout = nullptr, .peer = 1, .tag = 5}, {},
                     nullptr);
  job.ports[0]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 1, .tag = 5}, {},
                     nullptr);
  std::size_t failed = 0;
  while (failed != 2 && passed::ns < 2 * kTimeout) {
    const std::uint64_t before = passed::checks;
    while (passed::checks == before && failed != 2) {
      for (const Completion& done : job.ports[0]->poll()) {
        EXPECT_EQ(done.error, kFailure);
        EXPECT_GE(passed::ns, kTimeout);
        ++failed;
      }
    }
    passed::ns += kTimeout / 10;
  }
  EXPECT_EQ(failed, 2U);
}

// Rank 0 has given up the pair. Rank 1, which noticed nothing, gets an error too, and not the acknowledgement of a
// message that is thrown away.
TEST(Stripes, WhoIsGivenUpIsTold) {
  passed::ns = passed::checks = 0;
  Job job(2, {.congestion = "", .now = passed::now, .facts = passed::facts_of_silent, .answered = never});
  pass_on(job, 100'000);
  std::vector<std::byte> sent = filled(1'000'000, 1), room(sent.size());
  job.ports[0]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 1, .tag = 5}, {},
                     nullptr);
  while (job.ports[0]->poll().empty()) {
    if (std::exchange(passed::checks, 0) != 0) passed::ns += kTimeout / 10;
  }
  bool finished = false;
  job.ports[1]->send({.address = sent.data(), .bytes = sent.size(), .layout = nullptr, .peer = 0, .tag = 5}, {},
                     &finished);
  EXPECT_FALSE(finished);
  job.ports[1]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 0, .tag = 5}, {},
                     nullptr);
  for (std::size_t open = 2; open != 0;) {
    EXPECT_TRUE(job.ports[0]->poll().empty());
    for (const Completion& done : job.ports[1]->poll()) {
      EXPECT_EQ(done.error, kFailure);
      --open;
    }
  }
}

// All stripes were lost while nobody wanted anything, and that is longer ago than a node may be silent; and then the
// other process computes for longer than that.
TEST(Stripes, WhoWasAskedNothingIsNotGone) {
  constexpr std::uint64_t kLonger = kTimeout + kTimeout / 10;
  passed::ns = passed::checks = 0;
  Job job(2, {.congestion = "", .now = passed::now, .facts = passed::facts});
  pass_on(job, 100'000);
  const auto lost = [&] { return sockets_to(*job.wires[1]).empty(); };
  while (!lost()) {
    job.cut(1, 0);
    for (auto& port : job.ports) port->poll();
  }
  passed::ns += kLonger;
  std::vector<std::byte> sent = filled(1000, 1), room(sent.size());
  bool finished = false;
  std::size_t open = 0;
  job.ports[0]->send({.address = sent.data(), .bytes = sent.size(), .layout = nullptr, .peer = 1, .tag = 5}, {},
                     &finished);
  open += finished ? 0U : 1U;
  const auto settle = [&](StripesPort& port) {
    for (const Completion& done : port.poll()) {
      EXPECT_EQ(done.error, 0);
      --open;
    }
  };
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t before = passed::checks;
    while (passed::checks == before && open != 0) settle(*job.ports[0]);
    ASSERT_EQ(open, 1U);
    passed::ns += kLonger;
  }
  EXPECT_EQ(job.ports[1]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 0, .tag = 5},
                               {}, &finished),
            0);
  open += finished ? 0U : 1U;
  while (open != 0) {
    for (auto& port : job.ports) settle(*port);
  }
  EXPECT_TRUE(sent == room);
}

}  // namespace
}  // namespace urakata::transport::stripes_silence_test
