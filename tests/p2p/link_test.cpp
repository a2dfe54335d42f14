// SPDX-License-Identifier: BSD-3-Clause
// Ranks 0 and 1 in one space, 2 and 3 in another, with a link between all that share none: each receives from all,
// whichever way a message comes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "../seed.hpp"
#include "base/progress_thread.hpp"
#include "fake_link.hpp"
#include "layout/layout.hpp"
#include "p2p/endpoint.hpp"

namespace urakata::p2p::test::link_test {
namespace {

constexpr int kRanks = 4;
constexpr std::int32_t kTags = 3;
constexpr std::uint64_t kEach = 700;  // messages with each tag from each rank to each
constexpr std::size_t kWindow = 24;
constexpr std::uint32_t kContext = 9;
constexpr std::uint64_t kCredit = 8'000;

bool linked(int a, int b) { return (a < 2) != (b < 2); }

struct Header {
  std::int32_t source;
  std::int32_t tag;
  std::uint64_t number;
  std::uint64_t bytes;
};

std::uint64_t size_of(std::uint64_t draw) {
  if (draw % 256 == 0) return 200'000 + draw % 1000;
  if (draw % 64 == 1) return 20'000;
  if (draw % 16 == 2) return FakeLink::kEagerBytes + draw / 16 % 2;
  if (draw % 16 == 3) return 257;
  if (draw % 8 == 4) return 100;
  return sizeof(Header) + draw % 30;
}

std::byte filling(const Header& header, std::size_t at) {
  return static_cast<std::byte>(header.number * 31 + at + static_cast<std::uint64_t>(header.source) * 5);
}

struct World {
  FakeNetwork network;
  std::vector<std::unique_ptr<FakeLink>> links;
  std::vector<std::unique_ptr<Endpoint>> endpoints;

  World(std::uint64_t seed, std::uint64_t credit, int ranks = kRanks) {
    for (int own = 0; own < ranks; ++own) {
      links.push_back(
          std::make_unique<FakeLink>(network, own, ranks, credit, seed + 100 + static_cast<std::uint64_t>(own)));
      endpoints.push_back(std::make_unique<Endpoint>(Callers::one));
      endpoints.back()->attach(*links.back());
    }
  }
};

class Rank {
 public:
  Rank(int own, std::uint64_t seed, World& world)
      : own_(own),
        random_(seed + static_cast<std::uint64_t>(own)),
        world_(world),
        here_(*world.endpoints[static_cast<std::size_t>(own)]) {
    for (auto& receive : receives_) receive.room.resize(210'000);
  }

  // Until all has been sent and received, and for as long as the others need this rank.
  void run(std::atomic<int>& busy) {
    const std::uint64_t total = kEach * kTags * kRanks;
    while (taken_.size() < total || sent_ < total || !here_.idle() || open_sends() != 0) {
      turn(total);
      if (random_() % 8 == 0) std::this_thread::yield();
    }
    --busy;
    while (busy.load() != 0) {
      here_.progress();
      std::this_thread::yield();
    }
  }

  // In the order in which they were posted, receives have got the messages of one source and tag in the order in which
  // these were sent, and each once.
  void check_order() {
    ASSERT_EQ(bad_, 0U);
    std::sort(taken_.begin(), taken_.end());
    std::array<std::array<std::uint64_t, kTags>, kRanks> next{};
    for (const auto& [posted, source, tag, number] : taken_) {
      ASSERT_EQ(number, next[static_cast<std::size_t>(source)][static_cast<std::size_t>(tag)]++)
          << "rank " << own_ << " from " << source << " tag " << tag;
    }
  }

 private:
  struct Sending {
    Request* request = nullptr;
    std::vector<std::byte> payload;
  };
  struct Receiving {
    Request* request = nullptr;
    std::uint64_t room_used = 0;
    std::uint64_t posted = 0;
    std::vector<std::byte> room;
  };

  std::size_t open_sends() {
    std::size_t open = 0;
    for (Sending& s : sends_) {
      if (s.request != nullptr && s.request->done()) {
        here_.release(*s.request);
        s.request = nullptr;
      }
      open += s.request != nullptr ? 1 : 0;
    }
    return open;
  }

  void send() {
    open_sends();
    const auto free = std::find_if(sends_.begin(), sends_.end(), [](const auto& s) { return s.request == nullptr; });
    const auto to = static_cast<std::size_t>(random_() % kRanks);
    const auto tag = static_cast<std::size_t>(random_() % kTags);
    if (free == sends_.end() || next_[to][tag] == kEach) return;
    free->payload.resize(size_of(random_()));
    const Header header{own_, static_cast<std::int32_t>(tag), next_[to][tag]++, free->payload.size()};
    for (std::size_t i = sizeof header; i < free->payload.size(); ++i) free->payload[i] = filling(header, i);
    std::memcpy(free->payload.data(), &header, sizeof header);
    const Envelope envelope{kContext, own_, header.tag};
    const Buffer buffer{free->payload.data(), free->payload.size(), nullptr};
    const auto mode = static_cast<Mode>(random_() % 3);
    free->request = linked(own_, static_cast<int>(to))
                        ? here_.send(LinkPeer{static_cast<int>(to)}, envelope, buffer, mode)
                        : here_.send(world_.endpoints[to]->port(), envelope, buffer, mode);
    ++sent_;
  }

  void post(Receiving& r) {
    r.room_used = random_() % 8 == 0 ? sizeof(Header) + random_() % 40 : r.room.size();
    r.posted = ++posts_;
    const Buffer buffer{r.room.data(), r.room_used, nullptr};
    const auto one_tag = static_cast<std::int32_t>(random_() % kTags);
    const Envelope pattern{kContext, random_() % 4 == 0 ? static_cast<std::int32_t>(random_() % kRanks) : kAnySource,
                           random_() % 2 == 0 ? kAnyTag : one_tag};
    if (random_() % 4 == 0) {
      Result found;
      Unexpected* const message = here_.take(pattern, &found);
      if (message != nullptr) r.request = &here_.receive(*message, buffer);
    } else {
      r.request = &here_.receive(pattern, buffer);
    }
  }

  void turn(std::uint64_t total) {
    if (sent_ < total) send();
    for (Receiving& r : receives_) {
      if (r.request == nullptr && taken_.size() < total) post(r);
    }
    here_.progress();
    for (Receiving& r : receives_) {
      if (r.request == nullptr) continue;
      if (r.request->done()) {
        take(r);
      } else if (taken_.size() != total && (random_() % 64 != 0 || !here_.cancel(*r.request))) {
        continue;
      } else if (taken_.size() == total && !r.request->done() && !here_.cancel(*r.request)) {
        continue;
      }
      here_.release(*r.request);
      r.request = nullptr;
    }
  }

  void take(const Receiving& r) {
    const Result& result = r.request->result;
    Header header{};
    std::memcpy(&header, r.room.data(), sizeof header);
    bool good = header.source == result.source && header.tag == result.tag &&
                result.bytes == std::min(header.bytes, r.room_used) &&
                result.outcome == (header.bytes > r.room_used ? Outcome::truncated : Outcome::good);
    for (std::size_t i = sizeof header; good && i < result.bytes; ++i) good = r.room[i] == filling(header, i);
    if (!good) ++bad_;
    taken_.emplace_back(r.posted, result.source, result.tag, header.number);
  }

  const int own_;
  std::mt19937_64 random_;
  World& world_;
  Endpoint& here_;
  std::array<Sending, 16> sends_;
  std::array<Receiving, kWindow> receives_;
  std::array<std::array<std::uint64_t, kTags>, kRanks> next_{};
  std::vector<std::tuple<std::uint64_t, std::int32_t, std::int32_t, std::uint64_t>> taken_;
  std::uint64_t sent_ = 0;
  std::uint64_t posts_ = 0;
  std::uint64_t bad_ = 0;
};

TEST(Links, OneMatchingForTheSpaceAndBeyond) {
  const std::uint64_t seed = drawn_seed();
  World world(seed, FakeLink::kEagerBytes + 2 * FakeLink::kFrame);  // small ones could overtake large ones
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int i = 0; i < kRanks; ++i) ranks.push_back(std::make_unique<Rank>(i, seed, world));
  std::atomic<int> busy{kRanks};
  std::vector<std::thread> threads;
  for (auto& rank : ranks) threads.emplace_back([&] { rank->run(busy); });
  for (std::thread& thread : threads) thread.join();
  for (auto& rank : ranks) rank->check_order();
  for (auto& link : world.links) EXPECT_EQ(link->wrong, 0);
}

// Two ranks of different spaces in one thread.
class Pair : public ::testing::Test {
 protected:
  void settle() {
    for (int i = 0; i < 200; ++i) {
      one_.progress();
      other_.progress();
    }
  }
  Buffer words(std::vector<std::uint64_t>& of, std::size_t from, std::size_t count) {
    return {reinterpret_cast<std::byte*>(&of[from]), count * sizeof of[0], nullptr};
  }

  World world_{17, kCredit, 2};
  Endpoint& one_ = *world_.endpoints[0];
  Endpoint& other_ = *world_.endpoints[1];
};

// 0 sends 1 2 3 ... to 1, which does not receive: what leaves is bounded by the credit, and all arrives in order.
TEST_F(Pair, CreditBoundsWhatIsUnexpected) {
  constexpr std::size_t kMany = 3000;
  std::vector<std::uint64_t> numbers(kMany);
  std::size_t waiting = 0;
  for (std::size_t i = 0; i < kMany; ++i) {
    numbers[i] = i + 1;
    if (Request* send = one_.send(LinkPeer{1}, {1, 0, 0}, words(numbers, i, 1), Mode::buffered)) {
      ++waiting;
      one_.release(*send);
    }
    numbers[i] = 0;
  }
  settle();
  EXPECT_EQ(waiting, kMany - kCredit / (FakeLink::kFrame + 8));
  EXPECT_FALSE(one_.idle());
  for (std::size_t i = 0; i < kMany; ++i) {
    std::vector<std::uint64_t> got(1);
    Request& receive = other_.receive({1, kAnySource, kAnyTag}, words(got, 0, 1));
    while (!receive.done()) settle();
    other_.release(receive);
    ASSERT_EQ(got[0], i + 1);
  }
  settle();
  EXPECT_TRUE(one_.idle() && other_.idle());
}

// 0 sends 1 2 3 ... and at last 0, which 1 receives first. What there is no credit for is a
// rendezvous, also a message of no bytes.
TEST_F(Pair, UnreceivedMessagesKeepNoLaterOneOut) {
  constexpr std::size_t kMany = 600;
  std::vector<std::uint64_t> numbers(kMany);
  std::vector<Request*> sends;
  for (std::size_t i = 0; i < kMany; ++i) {
    numbers[i] = i + 1;
    sends.push_back(one_.send(LinkPeer{1}, {1, 0, 0}, words(numbers, i, 1), Mode::standard));
  }
  std::vector<std::uint64_t> last(1, 0);
  sends.push_back(one_.send(LinkPeer{1}, {1, 0, 1}, words(last, 0, 1), Mode::standard));
  sends.push_back(one_.send(LinkPeer{1}, {1, 0, 2}, {}, Mode::standard));
  std::vector<std::uint64_t> got(1, 77);
  Request& nothing = other_.receive({1, 0, 2}, words(got, 0, 1));
  Request& receive = other_.receive({1, 0, 1}, words(got, 0, 1));
  for (int i = 0; i < 20; ++i) settle();  // a few frames a step
  ASSERT_TRUE(receive.done() && nothing.done());
  EXPECT_EQ(got[0], 0U);
  EXPECT_EQ(nothing.result.bytes, 0U);
  other_.release(receive);
  other_.release(nothing);
  for (std::size_t i = 0; i < kMany; ++i) {
    Request& next = other_.receive({1, kAnySource, 0}, words(got, 0, 1));
    settle();
    ASSERT_TRUE(next.done());
    ASSERT_EQ(got[0], i + 1);
    other_.release(next);
  }
  settle();
  for (Request* send : sends) {
    if (send == nullptr) continue;
    EXPECT_TRUE(send->done());
    one_.release(*send);
  }
  EXPECT_TRUE(one_.idle() && other_.idle());
  // The credit is back.
  EXPECT_EQ(one_.send(LinkPeer{1}, {1, 0, 3}, words(last, 0, 1), Mode::standard), nullptr);
}

// A synchronous send of 8 bytes, and one of none, are done when they have been received; a standard one of 30 000 that
// is tested in vain is set aside.
TEST_F(Pair, ModesAreKept) {
  std::vector<std::uint64_t> out(5000, 7);
  std::vector<std::uint64_t> in(5000);
  for (const std::size_t count : {std::size_t{1}, std::size_t{0}}) {
    Request* send = one_.send(LinkPeer{1}, {1, 0, 0}, words(out, 0, count), Mode::synchronous);
    ASSERT_NE(send, nullptr);
    settle();
    EXPECT_FALSE(send->done());
    Request& receive = other_.receive({1, 0, 0}, words(in, 0, 1));
    settle();
    EXPECT_TRUE(send->done() && receive.done());
    EXPECT_EQ(receive.result.bytes, count * 8);
    one_.release(*send);
    other_.release(receive);
  }
  Request* send = one_.send(LinkPeer{1}, {1, 0, 0}, words(out, 0, 3750), Mode::standard);
  ASSERT_NE(send, nullptr);
  settle();
  for (std::uint32_t test = 1; test < Endpoint::kTests; ++test) one_.note_unsuccessful_test(*send);
  EXPECT_FALSE(send->done());
  one_.note_unsuccessful_test(*send);
  EXPECT_TRUE(send->done());
  one_.release(*send);
  std::fill(out.begin(), out.end(), 9);
  Request& receive = other_.receive({1, 0, 0}, words(in, 0, 5000));
  settle();
  EXPECT_TRUE(receive.done());
  EXPECT_EQ(receive.result.bytes, 30'000U);
  EXPECT_EQ(in[0], 7U);
  EXPECT_EQ(in[3749], 7U);
  EXPECT_EQ(in[3750], 0U);
  other_.release(receive);
  EXPECT_TRUE(one_.idle() && other_.idle());
}

// Of 40 000 bytes some are on their way, then all are over, at both ends; of 8 that come with their envelope nothing is
// told, also by a request that has been used before.
TEST_F(Pair, WhoLooksOnSeesTheTransfer) {
  std::vector<std::uint64_t> out(5000, 7);
  std::vector<std::uint64_t> in(5000);
  for (int round = 0; round < 2; ++round) {
    Request& receive = other_.receive({1, 0, 0}, words(in, 0, 5000));
    Request* const send = one_.send(LinkPeer{1}, {1, 0, 0}, words(out, 0, 5000), Mode::standard);
    ASSERT_NE(send, nullptr);
    EXPECT_EQ(one_.transfer(*send).met, 0U);
    EXPECT_EQ(other_.transfer(receive).met, 0U);
    std::uint64_t last = 0;
    bool half = false;
    while (!receive.done() || !send->done()) {
      one_.progress();
      other_.progress();
      const Transfer now = other_.transfer(receive);
      EXPECT_GE(now.moved, last);
      EXPECT_EQ(now.over != 0, receive.done());
      half = half || (now.moved > 0 && now.moved < 40'000);
      last = now.moved;
    }
    EXPECT_TRUE(half);
    for (const Transfer& end : {one_.transfer(*send), other_.transfer(receive)}) {
      EXPECT_NE(end.met, 0U);
      EXPECT_GE(end.over, end.met);
      EXPECT_EQ(end.bytes, 40'000U);
      EXPECT_EQ(end.moved, 40'000U);
    }
    one_.release(*send);
    other_.release(receive);
    Request& brief = other_.receive({1, 0, 1}, words(in, 0, 1));
    EXPECT_EQ(one_.send(LinkPeer{1}, {1, 0, 1}, words(out, 0, 1), Mode::standard), nullptr);
    settle();
    EXPECT_TRUE(brief.done());
    EXPECT_EQ(other_.transfer(brief).met, 0U);
    other_.release(brief);
  }
}

// Pairs of words with one left out behind each, which only this class can move; that is for the threads of the rank.
class Closed final : public layout::Layout {
 public:
  Closed() {
    size = 16;
    extent = true_extent = 24;
    contiguous = false;
  }
  void pack(const std::byte* base, std::uint64_t first, std::uint64_t count, std::byte* packed) const override {
    EXPECT_FALSE(on_progress_thread);
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(packed + i * size, base + (first + i) * extent, size);
  }
  void unpack(const std::byte* packed, std::byte* base, std::uint64_t first, std::uint64_t count) const override {
    EXPECT_FALSE(on_progress_thread);
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(base + (first + i) * extent, packed + i * size, size);
  }
};

// 48 bytes, and 48 000, some of which there is no room for. A progress thread does what can be done without the layout:
// the sender is done, and the receiver when one of its own threads comes by.
TEST_F(Pair, AProgressThreadLeavesWhatOnlyTheLayoutUnpacks) {
  const Closed type;
  for (const std::size_t count : {std::size_t{3}, std::size_t{3000}}) {
    std::vector<std::uint64_t> out(3 * count, 7);
    std::vector<std::uint64_t> in(3 * count, 1);
    const auto elements = [&](std::vector<std::uint64_t>& of, std::size_t most) {
      return Buffer{reinterpret_cast<std::byte*>(of.data()), most, &type};
    };
    Request& receive = other_.receive({1, 0, 0}, elements(in, count - 1));
    Request* const send = one_.send(LinkPeer{1}, {1, 0, 0}, elements(out, count), Mode::standard);
    on_progress_thread = true;
    for (int i = 0; i < 200; ++i) {
      one_.progress_link_if_free();
      other_.progress_link_if_free();
    }
    on_progress_thread = false;
    EXPECT_TRUE(send == nullptr || send->finished.load());
    EXPECT_FALSE(receive.done());
    EXPECT_FALSE(other_.idle());
    EXPECT_EQ(in[0], 1U);
    other_.progress();
    ASSERT_TRUE(receive.done());
    EXPECT_EQ(receive.result.outcome, Outcome::truncated);
    EXPECT_EQ(receive.result.bytes, 16 * (count - 1));
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(in[i], i % 3 == 2 || i / 3 == count - 1 ? 1U : 7U) << i;
    if (send != nullptr) one_.release(*send);
    other_.release(receive);
  }
  settle();
  EXPECT_TRUE(one_.idle() && other_.idle());
}

// 1 is lost while a message to it waits for its receive, one from it is half here, and 0 waits for more of it.
TEST_F(Pair, ALostPeerEndsWhatIsOpenWithIt) {
  std::vector<std::uint64_t> out(5000, 7);
  std::vector<std::uint64_t> in(5000);
  Request* unmatched = one_.send(LinkPeer{1}, {1, 0, 5}, words(out, 0, 5000), Mode::synchronous);
  Request* arriving = other_.send(LinkPeer{0}, {1, 1, 6}, words(out, 0, 5000), Mode::synchronous);
  ASSERT_EQ(other_.send(LinkPeer{0}, {1, 1, 7}, words(out, 0, 1), Mode::standard), nullptr);
  Request* leaving = other_.send(LinkPeer{0}, {1, 1, 8}, words(out, 0, 5000), Mode::synchronous);
  settle();
  Request& half = one_.receive({1, 1, 6}, words(in, 0, 5000));
  Request& named = one_.receive({1, 1, 9}, words(in, 0, 1));
  Request& any = one_.receive({1, kAnySource, 9}, words(in, 0, 1));
  world_.network.cut(0, 1);
  settle();
  one_.fail_receives(1, 1);
  for (Request* failed : {unmatched, &half, &named}) {
    ASSERT_TRUE(failed->done());
    EXPECT_EQ(failed->result.outcome, Outcome::failed);
    one_.release(*failed);
  }
  for (Request* failed : {arriving, leaving}) {
    ASSERT_TRUE(failed->done());
    EXPECT_EQ(failed->result.outcome, Outcome::failed);
    other_.release(*failed);
  }
  EXPECT_FALSE(any.done());
  EXPECT_TRUE(one_.cancel(any));
  one_.release(any);
  Request& whole = one_.receive({1, 1, 7}, words(in, 0, 1));
  ASSERT_TRUE(whole.done());
  EXPECT_EQ(whole.result.outcome, Outcome::good);
  one_.release(whole);
  Request& never = one_.receive({1, 1, 8}, words(in, 0, 5000));
  ASSERT_TRUE(never.done());
  EXPECT_EQ(never.result.outcome, Outcome::failed);
  one_.release(never);
  Request* late = one_.send(LinkPeer{1}, {1, 0, 5}, words(out, 0, 1), Mode::standard);
  ASSERT_NE(late, nullptr);
  ASSERT_TRUE(late->done());
  EXPECT_EQ(late->result.outcome, Outcome::failed);
  one_.release(*late);
  EXPECT_TRUE(one_.idle() && other_.idle());
}

}  // namespace
}  // namespace urakata::p2p::test::link_test
