// SPDX-License-Identifier: BSD-3-Clause
// One rank sends numbered messages with three tags, by persistent requests and others, another receives them one after
// the other, by persistent requests, by tag or any; both stop at random between their steps. Each receive gets the
// oldest message that it fits.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../seed.hpp"
#include "p2p/endpoint.hpp"

namespace urakata::p2p::test::pairs_threads_test {
namespace {

constexpr std::uint64_t kMessages = 30'000;
constexpr std::int32_t kTags = 3;
constexpr std::uint64_t kNear = 4;  // messages that the sender is ahead, usually
constexpr std::array<std::uint64_t, kTags> kSizes = {16, 256, 3000};

struct Header {
  std::int64_t tag;
  std::uint64_t number;
};

std::byte byte_of(std::uint64_t number, std::uint64_t at) { return static_cast<std::byte>(number * 31 + at * 7); }

class Steps {
 public:
  explicit Steps(std::uint64_t seed) : random_(seed) {}
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  void stop() {
    const std::uint64_t dice = draw(64);
    if (dice < 4) std::this_thread::yield();
    if (dice == 5) std::this_thread::sleep_for(std::chrono::microseconds(draw(50)));
  }

 private:
  std::mt19937_64 random_;
};

// The tags of all messages, known to both. In long stretches only one tag, so that pairs live.
std::vector<std::int32_t> tags_of(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int32_t> tags(kMessages);
  bool mixed = false;
  std::int32_t one = 0;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (i % 64 == 0) {
      mixed = random() % 2 == 0;
      one = static_cast<std::int32_t>(random() % kTags);
    }
    tags[i] = mixed ? static_cast<std::int32_t>(random() % kTags) : one;
  }
  return tags;
}

std::uint64_t send_all(Endpoint& here, Port& to, const std::vector<std::int32_t>& tags,
                       const std::atomic<std::uint64_t>& received, Steps steps) {
  struct Open {
    std::vector<std::byte> payload;
    Request* request = nullptr;
  };
  std::array<Persistent, kTags> persistent;
  std::array<Open, kTags> started;
  std::deque<Open> open;
  std::uint64_t put = 0;
  std::uint64_t ahead = 0;
  const auto end = [&](Open& one) {
    if (one.request == nullptr) return;
    here.wait(*one.request);
    here.release(*one.request);
    one.request = nullptr;
  };
  const auto fill = [](Open& one, std::int32_t tag, std::uint64_t number) {
    one.payload.resize(kSizes[static_cast<std::size_t>(tag)]);
    for (std::size_t i = sizeof(Header); i < one.payload.size(); ++i) one.payload[i] = byte_of(number, i);
    const Header header{tag, number};
    std::memcpy(one.payload.data(), &header, sizeof header);
  };
  for (std::uint64_t number = 0; number < kMessages; ++number) {
    const std::int32_t tag = tags[number];
    const auto place = static_cast<std::size_t>(tag);
    // Mostly in step with the receiver, now and then far ahead.
    if (steps.draw(200) == 0) ahead = steps.draw(64);
    while (number >= received.load(std::memory_order_relaxed) + kNear + ahead) {
      here.progress();
      std::this_thread::yield();
    }
    if (ahead != 0) --ahead;
    steps.stop();
    if (steps.draw(100) != 0) {
      end(started[place]);
      fill(started[place], tag, number);
      started[place].request =
          here.start(persistent[place], to, {1, 0, tag},
                     {started[place].payload.data(), started[place].payload.size(), nullptr}, Mode::standard);
      put += persistent[place].out != nullptr && persistent[place].out->put != 0 ? 1 : 0;
    } else {
      Open& next = open.emplace_back();
      fill(next, tag, number);
      next.request = here.send(to, {1, 0, tag}, {next.payload.data(), next.payload.size(), nullptr},
                               static_cast<Mode>(steps.draw(3)));
    }
    if (steps.draw(500) == 0) {
      here.end(persistent[place], nullptr);
      persistent[place] = {};
    }
    if (steps.draw(2) == 0) here.progress();
    while (open.size() > 8) {
      end(open.front());
      open.pop_front();
    }
  }
  for (Open& one : started) end(one);
  for (Open& one : open) end(one);
  for (Persistent& one : persistent) here.end(one, nullptr);
  while (!here.idle()) here.progress();
  return put;
}

std::uint64_t receive_all(Endpoint& here, const std::vector<std::int32_t>& tags, std::atomic<std::uint64_t>& received,
                          Steps steps) {
  std::array<Persistent, kTags> persistent;
  std::vector<bool> taken(kMessages);
  std::uint64_t oldest = 0;
  std::uint64_t wrong = 0;
  std::vector<std::byte> room(kSizes.back());
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    while (taken[oldest]) ++oldest;
    const std::int32_t tag = tags[oldest];
    Envelope pattern{1, 0, tag};
    const bool other = steps.draw(100) == 0;
    if (other && steps.draw(2) == 0) pattern.tag = kAnyTag;
    if (other && steps.draw(2) == 0) pattern.source = kAnySource;
    std::uint64_t expected = oldest;
    // Not always the oldest of all: also the oldest with another tag.
    if (!other && steps.draw(4) == 0) {
      for (std::uint64_t j = oldest; j < kMessages && j < oldest + kNear; ++j) {
        if (taken[j] || tags[j] == tag) continue;
        expected = j;
        pattern.tag = tags[j];
        break;
      }
    }
    steps.stop();
    Persistent& own = persistent[static_cast<std::size_t>(tags[expected])];
    if (steps.draw(500) == 0) here.end(own, nullptr);
    const Buffer buffer{room.data(), room.size(), nullptr};
    Request& request = other ? here.receive(pattern, buffer) : here.start(own, pattern, buffer);
    if (steps.draw(2) == 0) {
      here.wait(request);
    } else {
      while (!request.done()) {
        steps.stop();
        here.progress();
      }
    }
    const std::uint64_t bytes = request.result.bytes;
    if (other) {
      here.release(request);
    } else {
      here.release(own, request);
    }
    Header header{};
    std::memcpy(&header, room.data(), sizeof header);
    bool right = header.number == expected && bytes == kSizes[static_cast<std::size_t>(tags[expected])];
    for (std::size_t at = sizeof header; right && at < bytes; ++at) right = room[at] == byte_of(expected, at);
    wrong += right ? 0 : 1;
    taken[expected] = true;
    received.store(i + 1, std::memory_order_relaxed);
  }
  for (Persistent& one : persistent) here.end(one, nullptr);
  return wrong;
}

class PairsThreads : public ::testing::TestWithParam<Callers> {};

TEST_P(PairsThreads, EachReceiveGetsTheOldest) {
  const std::uint64_t seed = drawn_seed();
  const std::vector<std::int32_t> tags = tags_of(seed);
  Endpoint sender(GetParam());
  Endpoint receiver(GetParam());
  sender.expect_pairs();
  receiver.expect_pairs();
  std::uint64_t put = 0;
  std::atomic<std::uint64_t> received{0};
  std::thread other([&] { put = send_all(sender, receiver.port(), tags, received, Steps(seed)); });
  const std::uint64_t wrong = receive_all(receiver, tags, received, Steps(seed + 1));
  other.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(put, kMessages / 20);
  EXPECT_FALSE(receiver.open());
  EXPECT_FALSE(sender.open());
  printf("%llu of %llu messages were put\n", static_cast<unsigned long long>(put),
         static_cast<unsigned long long>(kMessages));
}

INSTANTIATE_TEST_SUITE_P(Pairs, PairsThreads, ::testing::Values(Callers::one, Callers::many),
                         [](const auto& tested) { return tested.param == Callers::one ? "alone" : "many"; });

}  // namespace
}  // namespace urakata::p2p::test::pairs_threads_test
