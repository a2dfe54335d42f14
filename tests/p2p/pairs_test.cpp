// SPDX-License-Identifier: BSD-3-Clause
// Persistent sends and receives, mixed with ordinary ones, probes, cancels and requests that are made anew: every
// receive takes the message that the reference says, by whichever way both came. 200 000 messages in one thread.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "../seed.hpp"
#include "p2p/endpoint.hpp"
#include "reference.hpp"

namespace urakata::p2p::test::pairs_test {
namespace {

constexpr std::uint64_t kMessages = 200'000;
constexpr std::int32_t kTags = 3;
constexpr std::uint64_t kRoom = 3000;
// Of each protocol; two sends have the same tag.
constexpr std::array<std::uint64_t, 5> kSizes = {8, 48, 49, 256, 3000};

std::byte byte_of(std::uint64_t number, std::uint64_t at) { return static_cast<std::byte>(number * 131 + at * 7); }

std::vector<std::byte> payload_of(std::uint64_t number, std::uint64_t bytes) {
  std::vector<std::byte> payload(bytes);
  std::memcpy(payload.data(), &number, sizeof number);
  for (std::uint64_t i = sizeof number; i < bytes; ++i) payload[i] = byte_of(number, i);
  return payload;
}

struct Send {
  std::vector<std::byte> payload;
  std::unique_ptr<Persistent> persistent;  // nullptr: an ordinary one
  Envelope envelope;
  Mode mode = Mode::standard;
  std::uint64_t bytes = 0;
  Request* open = nullptr;
};

struct Receive {
  std::vector<std::byte> room = std::vector<std::byte>(kRoom);
  std::unique_ptr<Persistent> persistent;
  Envelope pattern;
  Request* open = nullptr;
  std::uint64_t number = 0;
};

class Pairs : public ::testing::Test {
 protected:
  Pairs() {
    sender_.expect_pairs();
    receiver_.expect_pairs();
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      sends_.push_back({{}, std::make_unique<Persistent>(), {1, 0, static_cast<std::int32_t>(i % kTags)}});
      sends_.back().bytes = kSizes[i];
      sends_.back().mode = i == 4 ? Mode::synchronous : Mode::standard;
    }
    for (std::int32_t tag = 0; tag < kTags; ++tag) {
      Receive& receive = receives_.emplace_back();
      receive.persistent = std::make_unique<Persistent>();
      receive.pattern = {1, 0, tag};
    }
  }

  std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  Buffer buffer_of(std::vector<std::byte>& bytes) { return {bytes.data(), bytes.size(), nullptr}; }

  void send(Send& send) {
    const std::uint64_t number = ++sent_;
    send.payload = payload_of(number, send.bytes);
    sizes_[number] = send.bytes;
    if (const auto taker = reference_.arrive({send.envelope, number})) taken_[*taker] = number;
    if (send.persistent != nullptr) {
      send.open = sender_.start(*send.persistent, receiver_.port(), send.envelope, buffer_of(send.payload), send.mode);
      paired_ += send.persistent->out != nullptr && send.persistent->out->put != 0 ? 1 : 0;
    } else {
      send.open = sender_.send(receiver_.port(), send.envelope, buffer_of(send.payload), send.mode);
    }
  }

  void post(Receive& receive) {
    receive.number = ++posted_;
    if (const auto message = reference_.post({receive.pattern, receive.number}))
      taken_[receive.number] = message->number;
    receive.open = receive.persistent != nullptr
                       ? &receiver_.start(*receive.persistent, receive.pattern, buffer_of(receive.room))
                       : &receiver_.receive(receive.pattern, buffer_of(receive.room));
  }

  void release(Receive& receive) {
    if (receive.persistent != nullptr) {
      receiver_.release(*receive.persistent, *receive.open);
    } else {
      receiver_.release(*receive.open);
    }
    receive.open = nullptr;
  }

  void poll() {
    receiver_.progress();
    sender_.progress();
    for (auto* list : {&sends_, &ordinary_sends_}) {
      for (Send& send : *list) {
        if (send.open == nullptr || !send.open->done()) continue;
        sender_.release(*send.open);
        send.open = nullptr;
      }
    }
    std::erase_if(ordinary_sends_, [](const Send& send) { return send.open == nullptr; });
    for (auto* list : {&receives_, &ordinary_receives_}) {
      for (Receive& receive : *list) {
        if (receive.open == nullptr) continue;
        const auto message = taken_.find(receive.number);
        if (!receive.open->done()) continue;
        ASSERT_NE(message, taken_.end()) << "receive " << receive.number << " took a message too early";
        check(receive, message->second);
        taken_.erase(message);
        release(receive);
      }
    }
    std::erase_if(ordinary_receives_, [](const Receive& receive) { return receive.open == nullptr; });
  }

  void check(const Receive& receive, std::uint64_t number) {
    std::uint64_t got = 0;
    std::memcpy(&got, receive.room.data(), sizeof got);
    ASSERT_EQ(got, number) << "taken by receive " << receive.number;
    ASSERT_EQ(receive.open->result.bytes, sizes_[number]);
    ASSERT_EQ(receive.open->result.outcome, Outcome::good);
    const auto expected = payload_of(number, sizes_[number]);
    ASSERT_EQ(std::memcmp(receive.room.data(), expected.data(), expected.size()), 0);
    ++received_;
  }

  void disturb() {
    Envelope pattern{1, draw(2) == 0 ? 0 : kAnySource, draw(2) == 0 ? kAnyTag : static_cast<std::int32_t>(draw(kTags))};
    switch (draw(8)) {
      case 0:
      case 1: {
        Send& send = ordinary_sends_.emplace_back();
        send.envelope = {1, 0, static_cast<std::int32_t>(draw(kTags + 1))};
        send.bytes = kSizes[draw(kSizes.size())];
        send.mode = static_cast<Mode>(draw(3));
        this->send(send);
        break;
      }
      case 2:
      case 3: {
        Receive& receive = ordinary_receives_.emplace_back();
        receive.pattern = pattern;
        post(receive);
        break;
      }
      case 4: {
        receiver_.progress();
        Result found;
        const auto expected = reference_.find(pattern);
        ASSERT_EQ(receiver_.probe(pattern, &found), expected.has_value());
        if (expected) {
          ASSERT_EQ(found.bytes, sizes_[expected->number]);
          ASSERT_EQ(found.tag, expected->envelope.tag);
        }
        break;
      }
      case 5: {  // taken back
        poll();
        auto& list = draw(2) == 0 || ordinary_receives_.empty() ? receives_ : ordinary_receives_;
        Receive& receive = list[draw(list.size())];
        if (receive.open == nullptr) break;
        const bool was_posted = reference_.cancel(receive.number);
        ASSERT_EQ(receiver_.cancel(*receive.open), was_posted);
        if (was_posted) {
          ASSERT_EQ(receive.open->result.outcome, Outcome::cancelled);
          release(receive);
          if (&list == &ordinary_receives_) {
            std::erase_if(ordinary_receives_, [](const Receive& r) { return r.open == nullptr; });
          }
        }
        break;
      }
      case 6: {  // a send is given back, and another made in its place
        Send& send = sends_[draw(sends_.size())];
        sender_.end(*send.persistent, nullptr);
        if (send.open == nullptr) send.persistent = std::make_unique<Persistent>();
        break;
      }
      default: {
        Receive& receive = receives_[draw(receives_.size())];
        if (receive.open != nullptr) break;
        receiver_.end(*receive.persistent, nullptr);
        receive.persistent = std::make_unique<Persistent>();
      }
    }
  }

  void start_one() {
    if (draw(2) == 0) {
      Send& send = sends_[draw(calm_ ? kTags : sends_.size())];
      if (send.open == nullptr && sent_ - received_ < (calm_ ? 6 : 30)) this->send(send);
    } else {
      Receive& receive = receives_[draw(receives_.size())];
      if (receive.open == nullptr) post(receive);
    }
  }

  std::mt19937_64 random_;
  bool calm_ = true;
  Endpoint sender_{Callers::one};
  Endpoint receiver_{Callers::one};
  Reference reference_;
  std::vector<Send> sends_;
  std::vector<Send> ordinary_sends_;
  std::vector<Receive> receives_;
  std::vector<Receive> ordinary_receives_;
  std::map<std::uint64_t, std::uint64_t> taken_;  // by number of the receive
  std::map<std::uint64_t, std::uint64_t> sizes_;
  std::uint64_t sent_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t paired_ = 0;
};

TEST_F(Pairs, MatchAsTheReferenceDoes) {
  const std::uint64_t seed = drawn_seed();
  random_.seed(seed);
  for (std::uint64_t step = 0; sent_ < kMessages; ++step) {
    if (step % 256 == 0) calm_ = draw(4) != 0;
    if (draw(calm_ ? 200 : 8) == 0) {
      ASSERT_NO_FATAL_FAILURE(disturb());
    }
    start_one();
    if (draw(3) == 0) {
      ASSERT_NO_FATAL_FAILURE(poll());
    }
    // What nobody asks for any more.
    if (sent_ - received_ >= 30 || (calm_ && step % 256 == 255)) {
      while (const auto left = reference_.find({1, kAnySource, kAnyTag})) {
        Receive& receive = ordinary_receives_.emplace_back();
        receive.pattern = left->envelope;
        post(receive);
      }
      ASSERT_NO_FATAL_FAILURE(poll());
    }
  }
  EXPECT_GT(received_, kMessages / 2);
  EXPECT_GT(paired_, kMessages / 10);
  printf("%llu of %llu messages were put\n", static_cast<unsigned long long>(paired_),
         static_cast<unsigned long long>(sent_));
}

// 0 starts a send of 8 bytes again and again, and 1 a receive: from the third start on it is a put, and starts allocate
// no request.
TEST_F(Pairs, BeginAtTheSecondStart) {
  for (int i = 1; i <= 20; ++i) {
    post(receives_[0]);
    send(sends_[0]);
    poll();
    ASSERT_EQ(received_, static_cast<std::uint64_t>(i));
    EXPECT_EQ(receives_[0].persistent->in != nullptr, i >= 2);
  }
  EXPECT_EQ(paired_, 18U);
  EXPECT_FALSE(receiver_.open());
  EXPECT_FALSE(sender_.open());
}

// A sender that is faster: with the ring full the messages go by the inbox, and come in order.
TEST_F(Pairs, ASenderThatIsFasterEndsIt) {
  for (int i = 0; i < 3; ++i) {
    post(receives_[0]);
    send(sends_[0]);
    poll();
  }
  ASSERT_NE(sends_[0].persistent->out, nullptr);
  for (std::uint64_t i = 0; i < kRingEntries / 2; ++i) send(sends_[0]);
  EXPECT_NE(sends_[0].persistent->out, nullptr);
  for (std::uint64_t i = 0; i < kRingEntries; ++i) send(sends_[0]);
  EXPECT_TRUE(sends_[0].persistent->out == nullptr || sends_[0].persistent->out->put == 0);  // it may have asked again
  for (std::uint64_t i = 0; i < kRingEntries / 2 + kRingEntries; ++i) {
    post(receives_[0]);
    ASSERT_NO_FATAL_FAILURE(poll());
  }
  EXPECT_EQ(received_, 3 + kRingEntries / 2 + kRingEntries);
}

}  // namespace
}  // namespace urakata::p2p::test::pairs_test
