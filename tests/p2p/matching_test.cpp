// SPDX-License-Identifier: BSD-3-Clause
// Three senders and one receiver in one thread; every step is also done by the reference, and every receive must have
// taken the message that the reference says, with the right bytes. 150 000 messages.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "../seed.hpp"
#include "p2p/endpoint.hpp"
#include "reference.hpp"

namespace urakata::p2p::test::matching_test {
namespace {

constexpr int kSenders = 3;
constexpr std::uint64_t kMessages = 150'000;
constexpr std::uint64_t kRoom = 3000;

std::byte pattern_byte(std::uint64_t number, std::uint64_t at) { return static_cast<std::byte>(number * 131 + at * 7); }

struct Sent {
  std::vector<std::byte> payload;
  Request* request = nullptr;
};

struct Posted {
  std::vector<std::byte> room;
  Request* request = nullptr;
  std::optional<std::uint64_t> message;  // as the reference says
};

class Matching : public ::testing::Test {
 protected:
  Envelope any_envelope() {
    Envelope pattern{draw(2), static_cast<std::int32_t>(draw(kSenders)), static_cast<std::int32_t>(draw(3))};
    if (draw(3) == 0) pattern.source = kAnySource;
    if (draw(3) == 0) pattern.tag = kAnyTag;
    return pattern;
  }
  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

  void send() {
    const std::uint64_t number = ++sent_count_;
    const Envelope envelope{draw(2), static_cast<std::int32_t>(draw(kSenders)), static_cast<std::int32_t>(draw(3))};
    static constexpr std::uint64_t kSizes[] = {0, 1, 8, 39, 40, 41, 100, 101, 255, 256, 257, 2000, 3000};
    Sent& sent = sent_[number];
    sent.payload.resize(kSizes[draw(std::size(kSizes))]);
    for (std::size_t i = 0; i < sent.payload.size(); ++i) sent.payload[i] = pattern_byte(number, i);
    const Mode mode = static_cast<Mode>(draw(3));
    sent.request = senders_[static_cast<std::size_t>(envelope.source)]->send(
        receiver_->port(), envelope, {sent.payload.data(), sent.payload.size(), nullptr}, mode);
    sizes_[number] = sent.payload.size();
    constexpr std::uint32_t kMostUnseen = 20;  // the inbox has room for them
    if (posted_.empty() && unseen_ < kMostUnseen && draw(3) != 0) {
      ++unseen_;
    } else {
      poll();
    }
    if (const auto receive = reference_.arrive({envelope, number})) posted_[*receive].message = number;
  }

  void poll() {
    receiver_->progress();
    unseen_ = 0;
  }

  // Takes the oldest message or none, whether the receiver has polled since it came or not.
  void receive_at_once() {
    Envelope pattern = any_envelope();
    if (draw(2) == 0) pattern = {pattern.context, kAnySource, kAnyTag};
    std::vector<std::byte> room(draw(2) == 0 ? 40 : kRoom);
    Result result;
    if (!receiver_->receive_at_once(pattern, {room.data(), room.size(), nullptr}, &result)) return;
    const auto message = reference_.post({pattern, ++receive_count_});
    ASSERT_TRUE(message.has_value());
    EXPECT_EQ(result.source, message->envelope.source);
    EXPECT_EQ(result.tag, message->envelope.tag);
    EXPECT_EQ(result.outcome, Outcome::good);
    ASSERT_EQ(result.bytes, sizes_[message->number]);
    for (std::size_t i = 0; i < result.bytes; ++i) ASSERT_EQ(room[i], pattern_byte(message->number, i));
    over(message->number);
    ++at_once_;
  }

  void receive(bool matched_probe) {
    const Envelope pattern = any_envelope();
    if (draw(2) == 0) poll();
    if (matched_probe) {
      const std::uint64_t number = ++receive_count_;
      Result found;
      Unexpected* message = receiver_->take(pattern, &found);
      const auto expected = reference_.find(pattern);
      ASSERT_EQ(message != nullptr, expected.has_value());
      if (message == nullptr) return;
      Posted& posted = posted_[number];
      posted.room.resize(kRoom);
      posted.request = &receiver_->receive(*message, {posted.room.data(), kRoom, nullptr});
      posted.message = reference_.post({pattern, number})->number;
      return;
    }
    post(pattern);
  }

  void post(const Envelope& pattern) {
    const std::uint64_t number = ++receive_count_;
    Posted& posted = posted_[number];
    posted.room.resize(kRoom);
    posted.request = &receiver_->receive(pattern, {posted.room.data(), kRoom, nullptr});
    if (const auto message = reference_.post({pattern, number})) posted.message = message->number;
  }

  void probe() {
    poll();
    const Envelope pattern = any_envelope();
    Result found;
    const bool there = receiver_->probe(pattern, &found);
    const auto expected = reference_.find(pattern);
    ASSERT_EQ(there, expected.has_value());
    if (!there) return;
    EXPECT_EQ(found.source, expected->envelope.source);
    EXPECT_EQ(found.tag, expected->envelope.tag);
    EXPECT_EQ(found.bytes, sizes_[expected->number]);
  }

  void cancel() {
    poll();
    if (posted_.empty()) return;
    auto it = posted_.lower_bound(1 + random_() % receive_count_);
    if (it == posted_.end()) return;
    const bool cancelled = receiver_->cancel(*it->second.request);
    ASSERT_EQ(cancelled, reference_.cancel(it->first));
    if (!cancelled) return;
    ASSERT_TRUE(it->second.request->done());
    EXPECT_EQ(it->second.request->result.outcome, Outcome::cancelled);
    receiver_->release(*it->second.request);
    posted_.erase(it);
  }

  // All receives that the reference has matched must be done, with the right bytes, and no others.
  void settle() {
    poll();
    for (auto it = posted_.begin(); it != posted_.end();) {
      Posted& posted = it->second;
      ASSERT_EQ(posted.request->done(), posted.message.has_value()) << "receive " << it->first;
      if (!posted.message) {
        ++it;
        continue;
      }
      const std::uint64_t bytes = sizes_[*posted.message];
      ASSERT_EQ(posted.request->result.bytes, bytes);
      ASSERT_EQ(posted.request->result.outcome, Outcome::good);
      for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(posted.room[i], pattern_byte(*posted.message, i));
      receiver_->release(*posted.request);
      over(*posted.message);
      it = posted_.erase(it);
    }
  }

  // Nothing is under way afterwards, and nothing but receive_at_once() receives for a while.
  void drain() {
    for (std::uint32_t context = 0; context < 2; ++context) {
      const Envelope all{context, kAnySource, kAnyTag};
      while (reference_.find(all)) post(all);
    }
    settle();
    while (!posted_.empty()) {
      const auto it = posted_.begin();
      ASSERT_TRUE(receiver_->cancel(*it->second.request) && reference_.cancel(it->first));
      receiver_->release(*it->second.request);
      posted_.erase(it);
    }
    quiet_ = 20;
  }

  // The message has been received.
  void over(std::uint64_t number) {
    const auto sent = sent_.find(number);
    for (auto& sender : senders_) sender->progress();
    if (Request* const request = sent->second.request) {
      ASSERT_TRUE(request->done());
      senders_[static_cast<std::size_t>(request->envelope.source)]->release(*request);
    }
    sent_.erase(sent);
    sizes_.erase(number);
  }

  std::mt19937_64 random_;
  std::unique_ptr<Endpoint> receiver_ = std::make_unique<Endpoint>(Callers::one);
  std::vector<std::unique_ptr<Endpoint>> senders_;
  Reference reference_;
  std::map<std::uint64_t, Sent> sent_;
  std::map<std::uint64_t, std::uint64_t> sizes_;
  std::map<std::uint64_t, Posted> posted_;
  std::uint64_t sent_count_ = 0;
  std::uint64_t receive_count_ = 0;
  std::uint32_t unseen_ = 0;   // messages that came since the receiver polled
  std::uint32_t quiet_ = 0;    // steps
  std::uint64_t at_once_ = 0;  // messages that were received so
};

TEST_F(Matching, IsThatOfTheReference) {
  const std::uint64_t seed = drawn_seed();
  random_.seed(seed);
  for (int i = 0; i < kSenders; ++i) senders_.push_back(std::make_unique<Endpoint>(Callers::one));
  while (sent_count_ < kMessages && !HasFatalFailure()) {
    const std::uint32_t dice = draw(100);
    if (quiet_ != 0) {
      --quiet_;
      dice < 50 ? send() : receive_at_once();
    } else if (dice < 45 && sent_.size() < 60) {
      send();
    } else if (dice < 60) {
      receive_at_once();
    } else if (dice < 80) {
      receive(draw(5) == 0);
    } else if (dice < 90) {
      probe();
    } else if (dice < 97) {
      settle();
    } else if (dice < 98) {
      drain();
    } else {
      cancel();
    }
  }
  EXPECT_GT(at_once_, kMessages / 500);
}

}  // namespace
}  // namespace urakata::p2p::test::matching_test
