// SPDX-License-Identifier: BSD-3-Clause
// Four ranks as threads, all sending to all in random order and sizes: messages of one sender, context and tag come out
// in the order in which they went in, each with the bytes of its number; more than 100 000 in all. Inboxes run full.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../seed.hpp"
#include "base/periodic_progress.hpp"
#include "p2p/endpoint.hpp"

namespace urakata::p2p::test::traffic_test {
namespace {

constexpr std::int32_t kRanks = 4;
constexpr std::int32_t kTags = 3;
constexpr std::uint64_t kEach = 2500;  // messages with each tag from each rank to each
constexpr std::size_t kWindow = 24;
constexpr std::uint32_t kContext = 9;

struct Header {
  std::int32_t source;
  std::int32_t tag;
  std::uint64_t number;
};

std::uint64_t size_of(std::uint64_t draw) {
  if (draw % 512 == 0) return 300'000 + draw % 1000;  // copied by both sides
  if (draw % 64 == 1) return 20'000;
  if (draw % 16 == 2) return 1'000;
  if (draw % 16 == 3) return 257;
  if (draw % 8 == 4) return 100;
  return sizeof(Header) + draw % 30;
}

std::byte filling(const Header& header, std::size_t at) {
  return static_cast<std::byte>(header.number * 31 + at + static_cast<std::uint64_t>(header.source) * 5);
}

class Rank {
 public:
  Rank(std::int32_t own, std::uint64_t seed, std::vector<std::unique_ptr<Endpoint>>& all)
      : own_(own),
        random_(seed + static_cast<std::uint64_t>(own)),
        all_(all),
        here_(*all[static_cast<std::size_t>(own)]) {
    for (auto& room : rooms_) room.resize(310'000);
  }

  void run() {
    const std::uint64_t total = kEach * kTags * kRanks;
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    std::array<std::array<std::uint64_t, kTags>, kRanks> next{};
    while (received < total || sent < total || !here_.idle() || open_sends() != 0) {
      if (sent < total) sent += try_send(next);
      for (std::size_t i = 0; i < kWindow; ++i) {
        if (receives_[i] == nullptr && received + posted_ < total) {
          const bool any = random_() % 2 == 0;
          receives_[i] =
              &here_.receive({kContext, kAnySource, any ? kAnyTag : static_cast<std::int32_t>(lock_++ % kTags)},
                             {rooms_[i].data(), rooms_[i].size(), nullptr});
          ++posted_;
        }
      }
      here_.progress();
      for (std::size_t i = 0; i < kWindow; ++i) {
        if (receives_[i] == nullptr || !receives_[i]->done()) continue;
        check(*receives_[i], rooms_[i]);
        here_.release(*receives_[i]);
        receives_[i] = nullptr;
        --posted_;
        ++received;
      }
      // Receives for one tag may outlive that tag's messages: take them back and post others.
      for (std::size_t i = 0; i < kWindow; ++i) {
        if (receives_[i] == nullptr || random_() % 64 != 0 || !here_.cancel(*receives_[i])) continue;
        here_.release(*receives_[i]);
        receives_[i] = nullptr;
        --posted_;
      }
      if (random_() % 8 == 0) std::this_thread::yield();
    }
  }

  std::atomic<std::uint64_t> bad{0};
  std::array<std::array<std::array<bool, kEach>, kTags>, kRanks> seen{};

 private:
  struct Open {
    Request* request = nullptr;
    std::vector<std::byte> payload;
  };

  std::size_t open_sends() {
    std::size_t open = 0;
    for (Open& o : sends_) {
      if (o.request != nullptr && o.request->done()) {
        here_.release(*o.request);
        o.request = nullptr;
      }
      open += o.request != nullptr ? 1 : 0;
    }
    return open;
  }

  std::uint64_t try_send(std::array<std::array<std::uint64_t, kTags>, kRanks>& next) {
    open_sends();
    for (Open& o : sends_) {
      if (o.request != nullptr) continue;
      const auto to = static_cast<std::size_t>(random_() % kRanks);
      const auto tag = static_cast<std::size_t>(random_() % kTags);
      if (next[to][tag] == kEach) return 0;
      const Header header{own_, static_cast<std::int32_t>(tag), next[to][tag]++};
      o.payload.resize(size_of(random_()));
      for (std::size_t i = sizeof header; i < o.payload.size(); ++i) o.payload[i] = filling(header, i);
      std::memcpy(o.payload.data(), &header, sizeof header);
      o.request = here_.send(all_[to]->port(), {kContext, own_, header.tag},
                             {o.payload.data(), o.payload.size(), nullptr}, static_cast<Mode>(random_() % 3));
      return 1;
    }
    return 0;
  }

  void check(const Request& request, const std::vector<std::byte>& room) {
    Header header{};
    std::memcpy(&header, room.data(), sizeof header);
    bool good = request.result.outcome == Outcome::good && header.source == request.result.source &&
                header.tag == request.result.tag && header.number < kEach;
    for (std::size_t i = sizeof header; good && i < request.result.bytes; ++i) good = room[i] == filling(header, i);
    if (good) {
      bool& flag = seen[static_cast<std::size_t>(header.source)][static_cast<std::size_t>(header.tag)][header.number];
      good = !flag;
      flag = true;
    }
    if (!good) ++bad;
  }

  const std::int32_t own_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Endpoint>>& all_;
  Endpoint& here_;
  std::array<Open, 16> sends_;
  std::array<Request*, kWindow> receives_{};
  std::array<std::vector<std::byte>, kWindow> rooms_;
  std::uint64_t posted_ = 0;
  std::uint64_t lock_ = 0;
};

void expect_all_to_arrive(const CopyingSettings& copying) {
  const std::uint64_t seed = drawn_seed();
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (int i = 0; i < kRanks; ++i)
    endpoints.push_back(std::make_unique<Endpoint>(Callers::one, BackoffSettings{}, copying));
  std::vector<std::unique_ptr<Rank>> ranks;
  for (std::int32_t i = 0; i < kRanks; ++i) ranks.push_back(std::make_unique<Rank>(i, seed, endpoints));
  std::vector<std::thread> threads;
  for (auto& rank : ranks) threads.emplace_back([&rank] { rank->run(); });
  for (std::thread& thread : threads) thread.join();
  for (auto& rank : ranks) {
    EXPECT_EQ(rank->bad.load(), 0U);
    for (auto& source : rank->seen) {
      for (auto& tag : source) EXPECT_EQ(std::count(tag.begin(), tag.end(), true), static_cast<long>(kEach));
    }
  }
}

TEST(Traffic, ArrivesWholeAndOnce) { expect_all_to_arrive({}); }
TEST(Traffic, ArrivesWholeAndOnceWithoutCopiesAside) { expect_all_to_arrive({.exchange_most = 0}); }

// What the next message of 8 bytes from rank 0 holds. `sender`, its endpoint, makes progress meanwhile.
std::uint64_t receive_number(Endpoint& receiver, Endpoint& sender) {
  std::uint64_t got = 0;
  Request& receive = receiver.receive({1, 0, 0}, {reinterpret_cast<std::byte*>(&got), 8, nullptr});
  while (!receive.done()) {
    receiver.progress();
    sender.progress();
  }
  receiver.release(receive);
  return got;
}

// 0 sends 1 2 3 ... to 1 without ever waiting, far more than an inbox holds; 1 comes late and gets them in that order.
TEST(Traffic, KeepsOrderThroughAFullInbox) {
  constexpr std::uint64_t kMany = 5000;
  Endpoint sender(Callers::one);
  Endpoint receiver(Callers::one);
  std::vector<std::uint64_t> numbers(kMany);
  std::vector<Request*> open;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    numbers[i] = i + 1;
    Request* request = sender.send(receiver.port(), {1, 0, 0}, {reinterpret_cast<std::byte*>(&numbers[i]), 8, nullptr},
                                   i % 5 == 0 ? Mode::synchronous : Mode::standard);
    if (request != nullptr) open.push_back(request);
  }
  EXPECT_GT(open.size(), kMany / 2);
  for (std::uint64_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(receive_number(receiver, sender), i + 1);
  }
  sender.progress();
  for (Request* request : open) {
    EXPECT_TRUE(request->done());
    sender.release(*request);
  }
  EXPECT_TRUE(sender.idle());
}

// Both ranks send 50 000 bytes before either receives: each send is set aside, as MPI libraries do, and both get
// theirs.
TEST(Traffic, SendsThatMeetDoNotHang) {
  std::array<std::unique_ptr<Endpoint>, 2> ends{std::make_unique<Endpoint>(Callers::one),
                                                std::make_unique<Endpoint>(Callers::one)};
  std::array<bool, 2> right{};
  auto rank = [&](std::size_t own) {
    Endpoint& here = *ends[own];
    std::vector<std::byte> out(50'000, static_cast<std::byte>(own + 1));
    std::vector<std::byte> in(50'000);
    if (Request* send = here.send(ends[1 - own]->port(), {1, static_cast<std::int32_t>(own), 0},
                                  {out.data(), out.size(), nullptr}, Mode::standard)) {
      here.wait(*send);
      here.release(*send);
    }
    std::fill(out.begin(), out.end(), std::byte{99});
    Request& receive = here.receive({1, static_cast<std::int32_t>(1 - own), 0}, {in.data(), in.size(), nullptr});
    here.wait(receive);
    here.release(receive);
    right[own] = in == std::vector<std::byte>(50'000, static_cast<std::byte>(2 - own));
    while (!here.idle()) here.progress();
  };
  std::thread other(rank, 1);
  rank(0);
  other.join();
  EXPECT_TRUE(right[0] && right[1]);
}

// Of 1000 and 1001 bytes that nobody receives, where 1000 are the most to be kept aside, the former are done.
TEST(Traffic, OnlyShortSendsAreSetAside) {
  Endpoint sender(Callers::one, {}, {.set_aside_most = 1000});
  Endpoint receiver(Callers::one);
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{1001}}) {
    std::vector<std::byte> out(bytes, std::byte{5});
    std::vector<std::byte> got(bytes);
    Request* send = sender.send(receiver.port(), {1, 0, 0}, {out.data(), bytes, nullptr}, Mode::standard);
    ASSERT_NE(send, nullptr);
    for (std::uint32_t test = 0; test < Endpoint::kTests; ++test) sender.note_unsuccessful_test(*send);
    EXPECT_EQ(send->done(), bytes == 1000);
    Request& receive = receiver.receive({1, 0, 0}, {got.data(), bytes, nullptr});
    receiver.wait(receive);
    receiver.release(receive);
    EXPECT_EQ(got, out);
    EXPECT_TRUE(send->done());
    sender.release(*send);
  }
}

// Who waits for a message itself is done with a standard send of up to 1000 bytes before anybody has received it.
TEST(Traffic, PayloadsOfAnExchangeAreCopiedAside) {
  Endpoint sender(Callers::one, {}, {.exchange_most = 1000});
  Endpoint receiver(Callers::one);
  for (const Mode mode : {Mode::standard, Mode::synchronous}) {
    for (const bool exchange : {false, true}) {
      for (const std::size_t bytes : {std::size_t{1000}, std::size_t{1001}}) {
        std::vector<std::byte> out(bytes, std::byte{5}), got(bytes), nothing(1);
        Request& other = sender.receive({1, 1, 1}, {nothing.data(), 1, nullptr});
        if (!exchange) {
          EXPECT_TRUE(sender.cancel(other));
        }
        Request* const send = sender.send(receiver.port(), {1, 0, 0}, {out.data(), bytes, nullptr}, mode);
        ASSERT_NE(send, nullptr);
        EXPECT_EQ(send->done(), mode == Mode::standard && exchange && bytes == 1000);
        if (send->done()) std::fill(out.begin(), out.end(), std::byte{6});  // the buffer is the program's again
        Request& receive = receiver.receive({1, 0, 0}, {got.data(), bytes, nullptr});
        receiver.wait(receive);
        receiver.release(receive);
        EXPECT_EQ(got, std::vector(bytes, std::byte{5}));
        sender.wait(*send);
        sender.release(*send);
        if (exchange) {
          EXPECT_TRUE(sender.cancel(other));
        }
        sender.release(other);
      }
    }
  }
}

// But no more than so many, if nobody receives them; once they are received there is room again.
TEST(Traffic, CopiesAsideAreBounded) {
  constexpr std::size_t kBytes = 32 << 10;
  constexpr std::size_t kMost = Endpoint::kMostAside / kBytes;
  Endpoint sender(Callers::one);
  Endpoint receiver(Callers::one);
  std::vector<std::byte> out(kBytes), got(kBytes), nothing(1);
  Request& other = sender.receive({1, 1, 1}, {nothing.data(), 1, nullptr});
  for (int round = 0; round < 2; ++round) {
    Request* last = nullptr;
    for (std::size_t i = 0; i <= kMost; ++i) {
      last = sender.send(receiver.port(), {1, 0, 0}, {out.data(), kBytes, nullptr}, Mode::standard);
      ASSERT_NE(last, nullptr);
      EXPECT_EQ(last->done(), i < kMost) << i;
      if (last->done()) sender.release(*last);
    }
    for (std::size_t i = 0; i <= kMost; ++i) {
      Request& receive = receiver.receive({1, 0, 0}, {got.data(), kBytes, nullptr});
      receiver.wait(receive);
      receiver.release(receive);
    }
    sender.wait(*last);
    sender.release(*last);
  }
  EXPECT_TRUE(sender.cancel(other));
  sender.release(other);
}

// 0 sends 300 and 50 000 bytes to 1, which does not poll, and only ever tests its request: that is done all the
// same.
TEST(Traffic, ASendThatIsTestedIsSetAside) {
  Endpoint sender(Callers::one);
  Endpoint receiver(Callers::one);
  for (const std::size_t bytes : {std::size_t{300}, std::size_t{50'000}}) {
    std::vector<std::byte> out(bytes, std::byte{5});
    std::vector<std::byte> in(bytes);
    Request* send = sender.send(receiver.port(), {1, 0, 0}, {out.data(), bytes, nullptr}, Mode::standard);
    ASSERT_NE(send, nullptr);
    for (std::uint32_t test = 1; test < Endpoint::kTests; ++test) sender.note_unsuccessful_test(*send);
    EXPECT_FALSE(send->done());
    sender.note_unsuccessful_test(*send);
    EXPECT_TRUE(send->done());
    sender.release(*send);
    std::fill(out.begin(), out.end(), std::byte{99});
    Request& receive = receiver.receive({1, 0, 0}, {in.data(), bytes, nullptr});
    receiver.wait(receive);
    receiver.release(receive);
    EXPECT_EQ(in, std::vector<std::byte>(bytes, std::byte{5}));
    sender.progress();
    EXPECT_TRUE(sender.idle());
  }
}

// One thread sends 1 2 ... 2000 to an inbox that runs full, and gives its requests back; another asks all the time
// whether nothing is left.
TEST(Traffic, AnotherThreadMayAskWhetherNothingIsLeft) {
  constexpr std::uint64_t kMany = 2000;
  Endpoint sender(Callers::many);
  Endpoint receiver(Callers::one);
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over.load()) sender.idle();
  });
  std::vector<std::uint64_t> numbers(kMany);
  for (std::uint64_t i = 0; i < kMany; ++i) {
    numbers[i] = i + 1;
    Request* const send = sender.send(receiver.port(), {1, 0, 0},
                                      {reinterpret_cast<std::byte*>(&numbers[i]), 8, nullptr}, Mode::standard);
    if (send != nullptr) sender.release(*send);
  }
  EXPECT_FALSE(sender.idle());
  for (std::uint64_t i = 0; i < kMany; ++i) {
    EXPECT_EQ(receive_number(receiver, sender), i + 1);
  }
  EXPECT_TRUE(sender.idle());
  over.store(true);
  other.join();
}

// 1 posts receives of 8, 300 and 100 000 bytes and goes its way; its progress thread takes in what 0 sends and waits
// for.
TEST(Traffic, MovesWhileTheRankIsAway) {
  Endpoint sender(Callers::one);
  Endpoint receiver(Callers::many);
  PeriodicProgress periodic("receiver", "messages", [&] {
    receiver.progress_if_free();
    return receiver.open();
  });
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{300}, std::size_t{100'000}}) {
    std::vector<std::byte> out(bytes, std::byte{5});
    std::vector<std::byte> in(bytes);
    Request& receive = receiver.receive({1, 0, 0}, {in.data(), bytes, nullptr});
    periodic.expect();
    if (Request* send = sender.send(receiver.port(), {1, 0, 0}, {out.data(), bytes, nullptr}, Mode::synchronous)) {
      sender.wait(*send);
      sender.release(*send);
    }
    Backoff backoff(receiver.port(), receiver.backoff_settings());
    while (!receive.done()) backoff.step([&] { return receive.done(); });
    EXPECT_EQ(in, out);
    receiver.release(receive);
  }
}

// A receive of 10 bytes takes a message of 20 and 100 000: ten bytes arrive, the outcome says so, the send is done.
TEST(Traffic, TruncationIsSaid) {
  Endpoint sender(Callers::one);
  Endpoint receiver(Callers::one);
  for (const std::size_t bytes : {std::size_t{20}, std::size_t{100'000}}) {
    const std::vector<std::byte> out(bytes, std::byte{7});
    std::vector<std::byte> in(20);
    Request& receive = receiver.receive({1, kAnySource, kAnyTag}, {in.data(), 10, nullptr});
    Request* send =
        sender.send(receiver.port(), {1, 0, 3}, {const_cast<std::byte*>(out.data()), bytes, nullptr}, Mode::standard);
    receiver.progress();
    ASSERT_TRUE(receive.done());
    EXPECT_EQ(receive.result.outcome, Outcome::truncated);
    EXPECT_EQ(receive.result.bytes, 10U);
    EXPECT_EQ(in[9], std::byte{7});
    EXPECT_EQ(in[10], std::byte{0});
    receiver.release(receive);
    if (send != nullptr) {
      EXPECT_TRUE(send->done());
      sender.release(*send);
    }
  }
}

}  // namespace
}  // namespace urakata::p2p::test::traffic_test
