// SPDX-License-Identifier: BSD-3-Clause
// Messages over stripes: in pieces, by number, with stripes that break while they go.
#include "transport/stripes/stripes.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <fstream>
#include <map>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../seed.hpp"
#include "base/clock.hpp"
#include "loopback.hpp"
#include "stripes_job.hpp"
#include "transport/group.hpp"

namespace urakata::transport::stripes_test {
namespace {

// Messages of all lengths under few tags between three ranks, posted early or late: each receive gets the next message
// of its peer and tag. `cuts`: of 1000 steps so many break a stripe.
void exchange(Job& job, unsigned seed, int messages, unsigned cuts) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  struct Slot {
    std::vector<std::byte> sent, room;
  };
  struct Queue {
    std::size_t sends = 0, receives = 0;
    std::vector<Slot*> slots;
  };
  std::deque<Slot> slots;
  std::map<std::array<int, 3>, Queue> queues;  // from, to, tag
  constexpr std::size_t kSizes[] = {0, 1, 24, 4096, 32768, 65536, 131072, 131073, 1'000'000, 5'000'000};
  std::size_t open = 0;
  const auto post = [&](bool sends, const std::array<int, 3>& ends, Queue& queue) {
    const auto [from, to, tag] = ends;
    Slot& slot = *queue.slots[sends ? queue.sends++ : queue.receives++];
    std::vector<std::byte>& bytes = sends ? slot.sent : slot.room;
    const Message message{
        .address = bytes.data(), .bytes = bytes.size(), .layout = nullptr, .peer = sends ? to : from, .tag = tag};
    StripesPort& port = *job.ports[static_cast<std::size_t>(sends ? from : to)];
    bool finished = false;
    EXPECT_EQ(sends ? port.send(message, {}, &finished) : port.recv(message, {}, &finished), 0);
    if (!finished) ++open;
  };
  for (int made = 0; made < messages || open != 0;) {
    const int from = static_cast<int>(random() % 3);
    const std::array<int, 3> ends{from, (from + 1 + static_cast<int>(random() % 2)) % 3,
                                  static_cast<int>(random() % 3)};
    Queue& queue = queues[ends];
    if (made < messages && random() % 2 == 0) {
      Slot& slot = slots.emplace_back();
      slot.sent = filled(kSizes[random() % std::size(kSizes)], static_cast<unsigned>(random()));
      slot.room.resize(slot.sent.size());
      queue.slots.push_back(&slot);
      ++made;
    }
    if (queue.sends < queue.slots.size() && random() % 2 == 0) post(true, ends, queue);
    if (queue.receives < queue.slots.size() && random() % 2 == 0) post(false, ends, queue);
    if (made == messages) {  // the rest of everything
      for (auto& [rest_ends, rest] : queues) {
        while (rest.sends < rest.slots.size()) post(true, rest_ends, rest);
        while (rest.receives < rest.slots.size()) post(false, rest_ends, rest);
      }
    }
    for (auto& port : job.ports) {
      for (const Completion& done : port->poll()) {
        EXPECT_EQ(done.error, 0);
        --open;
      }
    }
    if (cuts != 0 && random() % 1000 < cuts) job.cut(random() % 3, static_cast<unsigned>(random()));
  }
  for (const Slot& slot : slots) EXPECT_TRUE(slot.sent == slot.room) << slot.sent.size() << " bytes";
}

TEST(Stripes, MessagesOfAPeerAndTagMeetInOrder) {
  Job job(3);
  exchange(job, drawn_seed(), 150, 0);
}

// A kernel that has room for only 64 KiB at first gives no more to who reads late (tcp_rmem: least, first, most).
TEST(Stripes, MuchMayComeBeforeItIsRead) {
  std::uint64_t least = 0, first = 0, most = 0;
  std::ifstream("/proc/sys/net/ipv4/tcp_rmem") >> least >> first >> most;
  Job job(2);
  std::vector<std::byte> sent = filled(100'000, 1), room(sent.size());
  job.ports[0]->send({.address = sent.data(), .bytes = sent.size(), .layout = nullptr, .peer = 1, .tag = 5}, {},
                     nullptr);
  job.ports[1]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 0, .tag = 5}, {},
                     nullptr);
  finish(job, 2);
  const std::vector<int> sockets = sockets_to(*job.wires[1]);
  EXPECT_FALSE(sockets.empty());
  for (const int socket : sockets) {
    int has = 0;
    socklen_t size = sizeof has;
    ASSERT_EQ(getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &has, &size), 0);
    EXPECT_GE(static_cast<std::uint64_t>(has), std::min<std::uint64_t>(most / 2, 4 << 20));
  }
}

// The kernel takes little on one stripe and all on the others; no stripe is told that something has come, since
// the receiver does not look.
TEST(Stripes, NoStripeHasMoreThanItsShare) {
  Job job(2, {.streams = 4, .congestion = ""});
  std::vector<std::byte> sent = filled(1'600'000, 1), room(sent.size());
  const auto post = [&](bool sends) {
    const Message message{.address = sends ? sent.data() : room.data(),
                          .bytes = sent.size(),
                          .layout = nullptr,
                          .peer = sends ? 1 : 0,
                          .tag = 5};
    sends ? job.ports[0]->send(message, {}, nullptr) : job.ports[1]->recv(message, {}, nullptr);
  };
  post(true);
  post(false);
  finish(job, 2);
  while (job.stripes[0]->sending()) {
    for (auto& port : job.ports) port->poll();
  }
  const std::vector<int> sockets = sockets_to(*job.wires[1]);
  ASSERT_EQ(sockets.size(), 4U);
  const auto pace = [&](unsigned rate) { setsockopt(sockets[0], SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate); };
  pace(1'000'000);
  std::vector<std::uint64_t> before;
  for (const int socket : sockets) before.push_back(tcp_facts(socket).bytes_acked);
  post(true);
  for (int i = 0; i < 1000; ++i) job.ports[0]->poll();
  constexpr std::uint64_t kHeads = 4000;
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    EXPECT_LE(tcp_facts(sockets[i]).bytes_acked - before[i], sent.size() / 4 + Stripes::kLeastPiece + kHeads)
        << "lane " << i;
  }
  pace(~0U);
  post(false);
  finish(job, 2);
  EXPECT_TRUE(room == sent);
}

TEST(Stripes, WhatALostStripeHadGoesOverOthers) {
  Job job(3);
  exchange(job, drawn_seed(), 150, 20);
  std::uint32_t lost = 0;
  for (auto& stripes : job.stripes) {
    for (const auto& [rank, traffic] : stripes->traffic()) lost += traffic.lost;
  }
  EXPECT_GT(lost, 0U);
}

// A stripe from rank 0 to rank 1 whose other end is played by hand.
class StripeByHand {
 public:
  explicit StripeByHand(Job& job) : to_(*job.ports[1]), socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const ListenAddress listener = loopback(job.wires[1]->listen_port());
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&listener.address), listener.length), 0);
    send(Frame{.kind = FrameKind::hello_stripe, .tag = 0, .bytes = kSecret.low, .id = kSecret.high});
    EXPECT_EQ(next().kind, FrameKind::hello_ack);
  }
  ~StripeByHand() { close(); }
  StripeByHand(const StripeByHand&) = delete;
  StripeByHand& operator=(const StripeByHand&) = delete;

  void send(const Frame& frame) { send(std::as_bytes(std::span(&frame, 1))); }
  // Until rank 1 has read them.
  void send(std::span<const std::byte> bytes) {
    EXPECT_EQ(write(socket_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    for (int on_its_way = 1; on_its_way != 0;) {
      poll();
      ASSERT_EQ(ioctl(socket_, SIOCOUTQ, &on_its_way), 0);
    }
    poll();
  }
  Frame next() {
    Frame frame;
    while (recv(socket_, &frame, sizeof frame, MSG_DONTWAIT) != sizeof frame) poll();
    return frame;
  }
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    poll();
  }
  // Rank 1 can write nothing on the stripe any more.
  void refuse_answers() const {
    sockaddr_in own{}, other{};
    socklen_t size = sizeof own;
    ASSERT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size), 0);
    for (int socket = 0; socket < 1024; ++socket) {
      size = sizeof other;
      if (getpeername(socket, reinterpret_cast<sockaddr*>(&other), &size) != 0 || other.sin_port != own.sin_port)
        continue;
      ASSERT_EQ(shutdown(socket, SHUT_WR), 0);
      return;
    }
    FAIL() << "the stripe has no other end";
  }
  // The errors of what rank 1 has ended meanwhile.
  std::vector<int> ended() { return std::exchange(ended_, {}); }

 private:
  void poll() {
    for (const Completion& one : to_.poll()) ended_.push_back(one.error);
  }

  StripesPort& to_;
  int socket_;
  std::vector<int> ended_;
};

// A stripe is given up with half of a piece on its way, which comes anew by another; of the two the later may be read
// first.
TEST(Stripes, APieceThatComesTwiceIsThatWhichCameWhole) {
  const std::vector<std::byte> sent = filled(1000, 1);
  const std::span<const std::byte> all(sent);
  const Frame piece{.kind = FrameKind::stripe_end, .tag = 5, .bytes = sent.size(), .id = 0};
  for (const bool late : {false, true}) {
    for (const bool lost_is_first : {false, true}) {
      Job job(2);
      std::vector<std::byte> room(sent.size());
      bool finished = false;
      const Message message{.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 0, .tag = 5};
      StripeByHand lost(job);
      StripeByHand whole(job);
      for (StripeByHand* stripe : lost_is_first ? std::array{&lost, &whole} : std::array{&whole, &lost}) {
        stripe->send(piece);
        stripe->send(all.first(500));
      }
      if (!late) job.ports[1]->recv(message, {}, &finished);
      EXPECT_FALSE(finished);
      lost.close();
      whole.send(all.subspan(500));
      EXPECT_EQ(whole.next().kind, FrameKind::stripe_ack);
      if (late) {
        job.ports[1]->recv(message, {}, &finished);
        EXPECT_TRUE(finished);
      }
      EXPECT_EQ(job.ports[1]->in_flight(), 0U) << (late ? "late" : "posted") << (lost_is_first ? ", lost first" : "");
      EXPECT_TRUE(room == sent);
    }
  }
}

// The stripe by which the first piece came brings nothing on any more, as one that its sender has given up without a
// word.
TEST(Stripes, ClearToSendIsToldByAllStripes) {
  Job job(2);
  StripeByHand given_up(job);
  StripeByHand other(job);
  const std::vector<std::byte> first = filled(1000, 1);
  given_up.send(Frame{.kind = FrameKind::stripe_piece, .tag = 5, .bytes = first.size(), .id = 0});
  given_up.send(first);
  EXPECT_EQ(given_up.next().kind, FrameKind::stripe_ack);
  std::vector<std::byte> room(Stripes::kPush + 1000);
  bool finished = false;
  job.ports[1]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 0, .tag = 5}, {},
                     &finished);
  EXPECT_FALSE(finished);
  EXPECT_EQ(given_up.next().kind, FrameKind::clear_to_send);
  EXPECT_EQ(other.next().kind, FrameKind::clear_to_send);
}

// A receive of 4 MiB meets a message of 8 MiB: what comes without asking fills the receive, and is not all.
TEST(Stripes, AMessageThatIsTooLongIsAnErrorAndTheNextOneArrives) {
  Job job(2);
  std::vector<std::byte> sent = filled(2 * Stripes::kPush, 1), room(Stripes::kPush);
  int instance = 0;
  bool finished = false;
  job.ports[0]->send({.address = sent.data(), .bytes = sent.size(), .layout = nullptr, .peer = 1, .tag = 5},
                     {&instance, 0, 0}, &finished);
  EXPECT_FALSE(finished);
  job.ports[1]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 0, .tag = 5}, {},
                     nullptr);
  for (bool over = false; !over;) {
    EXPECT_TRUE(job.ports[0]->poll().empty());
    for (const Completion& done : job.ports[1]->poll()) {
      EXPECT_EQ(done.error, kFailure);
      over = true;
    }
  }
  EXPECT_EQ(job.ports[0]->cancel(&instance), 1U);
  pass_on(job, 1000);
}

// The second half of 2000 bytes comes before the first, for a receive of 1000, which is posted before them or behind.
TEST(Stripes, ThePiecesOfAMessageThatIsTooLongMayComeInAnyOrder) {
  const std::vector<std::byte> half = filled(1000, 1);
  const auto piece = [&half](FrameKind kind, std::uint64_t offset) {
    return Frame{.kind = kind, .tag = 5, .bytes = half.size(), .id = offset << StripeSizes::kNumberBits};
  };
  for (const bool late : {false, true}) {
    SCOPED_TRACE(late ? "late" : "posted");
    Job job(2);
    std::vector<std::byte> room(1000);
    const Message message{.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 0, .tag = 5};
    StripeByHand first(job);
    StripeByHand second(job);
    if (!late) job.ports[1]->recv(message, {}, nullptr);
    first.send(piece(FrameKind::stripe_piece, 0));
    first.send(std::span(half).first(500));
    second.send(piece(FrameKind::stripe_end, 1000));
    second.send(half);
    EXPECT_EQ(second.next().kind, FrameKind::stripe_ack);
    bool finished = false;
    if (late) {
      EXPECT_EQ(job.ports[1]->recv(message, {}, &finished), kFailure);
    }
    EXPECT_EQ(finished, late);
    EXPECT_EQ(second.ended(), late ? std::vector<int>{} : std::vector{kFailure});
    // The receive's memory is the caller's again.
    std::ranges::fill(room, std::byte{7});
    first.send(std::span(half).subspan(500));
    EXPECT_EQ(first.next().kind, FrameKind::stripe_ack);
    EXPECT_TRUE(std::ranges::all_of(room, [](std::byte one) { return one == std::byte{7}; }));
    EXPECT_TRUE(first.ended().empty());
  }
}

// Of this process's timers.
bool any_ticks() {
  for (int timer = 0; timer < 1024; ++timer) {
    itimerspec set{};
    if (timerfd_gettime(timer, &set) == 0 && set.it_interval.tv_nsec != 0) return true;
  }
  return false;
}

std::uint64_t clock_reads = 0;  // one or more in each tick
std::uint64_t counting_now() {
  ++clock_reads;
  return now_ns();
}

// Rank 1 cannot acknowledge a message, and wants nothing more of rank 0. It has reason to poll, since the message comes
// again, and nothing to look for at each tick.
TEST(Stripes, AStripeThatCannotAcknowledgeTicksNoMore) {
  Job job(2, {.congestion = "", .now = counting_now});
  const std::vector<std::byte> sent = filled(1000, 1);
  std::vector<std::byte> room(sent.size());
  job.ports[1]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 0, .tag = 5}, {},
                     nullptr);
  StripeByHand stripe(job);
  stripe.refuse_answers();
  stripe.send(Frame{.kind = FrameKind::stripe_end, .tag = 5, .bytes = sent.size(), .id = 0});
  stripe.send(sent);
  EXPECT_EQ(stripe.ended(), std::vector{0});
  EXPECT_TRUE(sent == room);
  EXPECT_TRUE(job.ports[1]->flushing());
  for (const std::uint64_t before = clock_reads; any_ticks() && clock_reads < before + 3;) job.ports[1]->poll();
  EXPECT_FALSE(any_ticks());
  EXPECT_TRUE(job.ports[1]->flushing());
}

// One stripe only: when it is lost another is made.
TEST(Stripes, ALostStripeIsMadeAnew) {
  Job job(3, {.streams = 1, .congestion = ""});
  exchange(job, drawn_seed(), 100, 20);
}

// Nothing is lost by it, and the message after it has connections of its own.
TEST(Stripes, WhatIsIdleCanBeClosed) {
  Job job(2);
  pass_on(job, 1'000'000);
  EXPECT_FALSE(sockets_to(*job.wires[1]).empty());
  for (const auto& stripes : job.stripes) stripes->close_idle();
  for (const auto& port : job.ports) port->poll();
  EXPECT_TRUE(sockets_to(*job.wires[1]).empty());
  pass_on(job, 1'000'000);
  EXPECT_FALSE(sockets_to(*job.wires[1]).empty());
  EXPECT_EQ(job.stripes[0]->traffic(1).lost, 0U);
}

// A large message uses as many stripes as there may be.
TEST(Stripes, AreAsManyAsAskedFor) {
  Job job(2, {.streams = 3, .congestion = ""});
  pass_on(job, 8'000'000);
  const Stripes::Traffic traffic = job.stripes[0]->traffic()[1];
  EXPECT_EQ(traffic.stripes, 3U);
  EXPECT_EQ(traffic.bytes, 8'000'000U);
}

// One that may use three stripes makes three, whatever others may; of the eight that a pair has then, one that may use
// one more for its first flight goes in two pieces, and one that does not say in eight.
TEST(Stripes, AMessageSaysHowManyItUses) {
  Job job(2);
  for (std::int32_t rank = 0; rank < 2; ++rank)
    job.stripes[static_cast<std::size_t>(rank)]->set_streams(1 - rank, 8, 8);
  const auto traffic = [&] { return job.stripes[0]->traffic()[1]; };
  pass_on(job, 8'000'000, {.most = 3, .first = 3});
  EXPECT_EQ(traffic().stripes, 3U);
  while (traffic().stripes < 8) pass_on(job, 8'000'000);
  const auto pieces_of = [&](const Streams& streams) {
    const std::uint64_t before = traffic().pieces;
    pass_on(job, 20'000, streams);
    return traffic().pieces - before;
  };
  EXPECT_EQ(pieces_of({.most = 1, .first = 2}), 2U);
  EXPECT_EQ(pieces_of({}), 8U);
}

// One of two messages may use no more stripes than there are full: the other one, behind it, takes those that are free.
TEST(Stripes, WhatMayUseMoreStripesNeedNotWait) {
  Job job(2);
  for (std::int32_t rank = 0; rank < 2; ++rank)
    job.stripes[static_cast<std::size_t>(rank)]->set_streams(1 - rank, 8, 8);
  while (job.stripes[0]->traffic()[1].stripes < 8) pass_on(job, 8'000'000);
  std::vector<std::byte> narrow = filled(3'000'000, 1), wide = filled(60'000, 2), room(3'000'000), other(60'000);
  bool finished = false;
  job.ports[0]->send({.address = narrow.data(),
                      .bytes = narrow.size(),
                      .layout = nullptr,
                      .peer = 1,
                      .tag = 5,
                      .streams = {.most = 1, .first = 1}},
                     {}, &finished);
  std::size_t open = finished ? 0 : 1;
  const std::uint64_t pieces = job.stripes[0]->traffic()[1].pieces;
  job.ports[0]->send({.address = wide.data(), .bytes = wide.size(), .layout = nullptr, .peer = 1, .tag = 6}, {},
                     &finished);
  open += finished ? 0U : 1U;
  EXPECT_GT(job.stripes[0]->traffic()[1].pieces, pieces);
  for (const auto& [memory, tag] : {std::pair(std::span(room), 5), std::pair(std::span(other), 6)}) {
    job.ports[1]->recv({.address = memory.data(), .bytes = memory.size(), .layout = nullptr, .peer = 0, .tag = tag}, {},
                       &finished);
    open += finished ? 0U : 1U;
  }
  finish(job, open);
  while (!job.stripes[0]->settled()) job.ports[1]->poll();
  EXPECT_TRUE(narrow == room);
  EXPECT_TRUE(wide == other);
}

// Of 8 stripes 2 are for long messages; 80 000 bytes fit into the first flights of 8, and 5000 are four packets.
TEST(Stripes, FirstFlightsGoOverMoreStripes) {
  Job job(2);
  for (std::int32_t rank = 0; rank < 2; ++rank)
    job.stripes[static_cast<std::size_t>(rank)]->set_streams(1 - rank, 2, 8);
  const auto traffic = [&] { return job.stripes[0]->traffic()[1]; };
  while (traffic().stripes < 8) pass_on(job, 8'000'000);
  std::uint64_t pieces = traffic().pieces;
  pass_on(job, 80'000);
  EXPECT_EQ(traffic().pieces - pieces, 8U);
  pieces = traffic().pieces;
  pass_on(job, 5000);
  EXPECT_EQ(traffic().pieces - pieces, 4U);
  pieces = traffic().pieces;
  pass_on(job, 1500);
  EXPECT_EQ(traffic().pieces - pieces, 1U);
}

// The other process has ended: what is wanted of it ends with an error.
TEST(Stripes, APeerThatIsGoneIsAnError) {
  Job job(2);
  std::vector<std::byte> room(100);
  bool finished = true;
  job.ports[0]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 1, .tag = 5}, {},
                     &finished);
  ASSERT_FALSE(finished);
  job.ports[1].reset();
  job.stripes[1].reset();
  job.wires[1].reset();
  for (;;) {
    const auto done = job.ports[0]->poll();
    if (done.empty()) continue;
    EXPECT_EQ(done.front().error, kFailure);
    break;
  }
  std::vector<std::byte> sent(100);
  job.ports[0]->send({.address = sent.data(), .bytes = sent.size(), .layout = nullptr, .peer = 1, .tag = 5}, {},
                     nullptr);
  EXPECT_EQ(job.ports[0]->poll().front().error, kFailure);
}

// Rank 1 tells that its operations have failed, and never polls again.
TEST(Stripes, ANoticeNeedsNoMoreOfItsTeller) {
  Job job(2);
  pass_on(job, 100'000);
  const Notice notice{.from = 1, .origin = 7, .context = 3};
  job.ports[1]->tell(0, notice);
  while (job.failures.count() == 0) job.ports[0]->poll();
  while (!job.stripes[0]->settled()) {  // by all stripes, and it counts once
  }
  std::vector<Notice> known;
  job.failures.read(known);
  EXPECT_EQ(known, std::vector{notice});
}

// What is given up uses no memory of the program's any more, and what comes for it later is thrown away.
TEST(Stripes, WhatIsGivenUpIsTakenBack) {
  Job job(2);
  std::vector<std::byte> sent = filled(40'000'000, 1);
  std::vector<std::byte> room(sent.size());
  int instance = 0;
  const std::atomic<std::uint32_t> waiting{0};
  std::array progress{std::make_unique<ProgressCount>(), std::make_unique<ProgressCount>()};
  for (auto& one : progress) one->begin(waiting);
  bool finished = false;
  job.ports[0]->send({.address = sent.data(), .bytes = sent.size(), .layout = nullptr, .peer = 1, .tag = 5},
                     {&instance, 0, 0, progress[0].get()}, &finished);
  job.ports[1]->recv({.address = room.data(), .bytes = room.size(), .layout = nullptr, .peer = 0, .tag = 5},
                     {&instance, 0, 0, progress[1].get()}, &finished);
  for (int i = 0; i < 10; ++i) {
    for (auto& port : job.ports) ASSERT_TRUE(port->poll().empty());
  }
  EXPECT_GT(progress[0]->all(), 0U);
  EXPECT_GT(progress[1]->all(), 0U);
  EXPECT_LT(progress[1]->all(), sent.size());
  EXPECT_EQ(job.ports[0]->cancel(&instance), 1U);
  EXPECT_EQ(job.ports[1]->cancel(&instance), 1U);
  for (auto& one : progress) one.reset();
  std::ranges::fill(room, std::byte{7});
  sent.assign(sent.size(), std::byte{9});
  for (int i = 0; i < 1000; ++i) {
    for (auto& port : job.ports) EXPECT_TRUE(port->poll().empty());
  }
  EXPECT_TRUE(std::ranges::all_of(room, [](std::byte one) { return one == std::byte{7}; }));
}

}  // namespace
}  // namespace urakata::transport::stripes_test
