// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 sends elements of one random type, rank 1 receives them as elements of another: byte i of the payload, which
// lies at the i-th offset of the sender's type map, must be at the i-th offset of the receiver's, and nothing else may
// have changed. With every way to copy, with layouts that have no shape, and with receives that are too short.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "../layout/random_type.hpp"
#include "../seed.hpp"
#include "fake_link.hpp"
#include "layout/moving.hpp"
#include "p2p/endpoint.hpp"

namespace urakata::p2p::test::layouts_test {
namespace {

using layout::RandomType;
using layout::RandomTypes;

// A layout with a shape, or one that can only be packed and unpacked as a whole, as types that the shim cannot reduce.
class TestLayout final : public layout::Layout {
 public:
  TestLayout(const RandomType& type, bool closed) : shape_(type.map), closed_(closed) {
    size = shape_.size();
    extent = static_cast<std::uint64_t>(shape_.extent());
    contiguous = shape_.contiguous();
  }
  const layout::Shape* shape() const override { return closed_ ? nullptr : &shape_; }
  void pack(const std::byte* base, std::uint64_t first, std::uint64_t count, std::byte* packed) const override {
    layout::pack({shape_, base, first + count}, first * size, {packed, count * size});
  }
  void unpack(const std::byte* packed, std::byte* base, std::uint64_t first, std::uint64_t count) const override {
    layout::unpack({packed, count * size}, {shape_, base, first + count}, first * size);
  }

 private:
  layout::Shape shape_;
  bool closed_;
};

// Elements of a random type in memory of their own.
struct Side {
  std::unique_ptr<TestLayout> layout;
  std::uint64_t count = 0;
  std::vector<std::int64_t> offsets;
  std::int64_t lowest = 0;
  std::vector<std::byte> memory;

  // As many elements as hold `bytes`; fewer, so that not all of it fits, where `truncated`.
  Side(RandomTypes& random, std::uint64_t bytes, bool written, bool truncated) {
    for (;;) {
      const RandomType type = random.type(3);
      if (type.listed.bytes.empty()) continue;
      count = (bytes + type.listed.bytes.size() - 1) / type.listed.bytes.size();
      if (truncated) count = (count + 1) / 2;
      offsets = type.listed.elements(count);
      if (written && std::unordered_set<std::int64_t>(offsets.begin(), offsets.end()).size() != offsets.size())
        continue;
      const auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
      if (*most - *least > kMostSpan) continue;
      lowest = *least;
      memory.resize(static_cast<std::size_t>(*most - *least + 1));
      layout = std::make_unique<TestLayout>(type, random.upto(5) == 0);
      return;
    }
  }
  Buffer buffer() {
    auto* base = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(memory.data()) -
                                              static_cast<std::uintptr_t>(lowest));
    return {base, count, layout.get()};
  }
  std::byte& at(std::int64_t offset) { return memory[static_cast<std::size_t>(offset - lowest)]; }

  static constexpr std::int64_t kMostSpan = 8 << 20;
};

struct Message {
  Side out;
  Side in;
  Mode mode;
  bool late;  // the receive is posted after the message has come

  explicit Message(RandomTypes& random)
      : Message(random, random.upto(30) == 0  ? random.between(300'000, 500'000)
                        : random.upto(3) == 0 ? random.between(2'000, 150'000)
                                              : random.between(1, 3'000)) {}

 private:
  Message(RandomTypes& random, std::int64_t bytes)
      : out(random, static_cast<std::uint64_t>(bytes), false, false),
        in(random, out.offsets.size(), true, random.upto(8) == 0),
        mode(static_cast<Mode>(random.upto(2))),
        late(random.upto(1) == 0) {}
};

std::byte value_at(std::size_t number, std::int64_t offset) {
  return static_cast<std::byte>(static_cast<std::uint64_t>(offset) * 29 + number * 13 + 1);
}

// Of a sender and a receiver, which need not be of one mind.
struct Both {
  const char* name;
  CopyingSettings sender;
  CopyingSettings receiver;
  bool by_link = false;
};
Both alike(const char* name, const CopyingSettings& settings) { return {name, settings, settings}; }
void PrintTo(const Both& both, std::ostream* out) { *out << both.name; }
std::string name_of(const ::testing::TestParamInfo<Both>& both) { return both.param.name; }

class Layouts : public ::testing::TestWithParam<Both> {};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kMessages = 100;
#else
constexpr int kMessages = 400;
#endif

TEST_P(Layouts, GoFromElementsToElements) {
  const std::uint64_t seed = drawn_seed();
  RandomTypes random(seed);
  std::vector<Message> messages;
  for (int i = 0; i < kMessages; ++i) messages.emplace_back(random);
  FakeNetwork network;
  FakeLink to_receiver(network, 0, 2, 50'000, seed);
  FakeLink to_sender(network, 1, 2, 50'000, seed + 1);
  Endpoint sender(Callers::one, {}, GetParam().sender);
  Endpoint receiver(Callers::one, {}, GetParam().receiver);
  sender.attach(to_receiver);
  receiver.attach(to_sender);
  std::atomic<std::size_t> sent{0};  // messages whose send has been called

  std::thread sending([&] {
    std::vector<Request*> open;
    for (std::size_t number = 0; number < messages.size(); ++number) {
      Side& out = messages[number].out;
      for (const std::int64_t offset : out.offsets) out.at(offset) = value_at(number, offset);
      const Envelope envelope{1, 0, 7};
      Request* request = GetParam().by_link
                             ? sender.send(LinkPeer{1}, envelope, out.buffer(), messages[number].mode)
                             : sender.send(receiver.port(), envelope, out.buffer(), messages[number].mode);
      sent.store(number + 1);
      if (request == nullptr) continue;
      if (number % 3 == 0) {
        open.push_back(request);  // waited for later
        continue;
      }
      sender.wait(*request);
      sender.release(*request);
      for (std::byte& byte : out.memory) byte = std::byte{0xee};  // the buffer is the program's again
    }
    for (Request* request : open) {
      sender.wait(*request);
      sender.release(*request);
    }
    while (!sender.idle()) sender.progress();
  });

  std::size_t wrong = 0;
  for (std::size_t number = 0; number < messages.size(); ++number) {
    Side& in = messages[number].in;
    const Side& out = messages[number].out;
    for (std::byte& byte : in.memory) byte = std::byte{0x55};
    while (messages[number].late && sent.load() <= number) receiver.progress();
    Request& request = receiver.receive({1, 0, 7}, in.buffer());
    receiver.wait(request);
    const std::size_t bytes = std::min(out.offsets.size(), in.offsets.size());
    const bool truncated = out.offsets.size() > in.offsets.size();
    bool good =
        request.result.bytes == bytes && request.result.outcome == (truncated ? Outcome::truncated : Outcome::good);
    receiver.release(request);
    for (std::size_t i = 0; i < bytes; ++i) {
      good = good && in.at(in.offsets[i]) == value_at(number, out.offsets[i]);
      in.at(in.offsets[i]) = std::byte{0x55};
    }
    for (const std::byte byte : in.memory) good = good && byte == std::byte{0x55};
    if (!good) {
      printf("message %zu of %zu bytes is wrong\n", number, out.offsets.size());
      ++wrong;
    }
  }
  sending.join();
  EXPECT_EQ(wrong, 0U);
}

INSTANTIATE_TEST_SUITE_P(EveryWay, Layouts,
                         ::testing::Values(alike("chosen", {}), alike("receiver", {Copying::receiver}),
                                           alike("sender", {Copying::sender}), alike("both", {Copying::both}),
                                           Both{"sender_both", {Copying::sender}, {Copying::both}},
                                           Both{"both_receiver", {Copying::both}, {Copying::receiver}},
                                           Both{"by_link", {}, {}, true}),
                         name_of);

// All that may be packed in pieces is, or nothing is; two copy everything, or nothing.
constexpr CopyingSettings kSmall{.pack_below = 1,
                                 .share_from = 1,
                                 .share_plain_from = 1,
                                 .short_block = 1 << 20,
                                 .set_aside_most = 0,
                                 .pieces = {64, 128}};
constexpr CopyingSettings kLarge{.pack_below = 1, .share_from = 1 << 30, .share_plain_from = 1 << 30, .short_block = 0};
constexpr CopyingSettings kPacking{.pack_below = 1 << 30, .share_from = 512, .share_plain_from = 512};
INSTANTIATE_TEST_SUITE_P(EveryThreshold, Layouts,
                         ::testing::Values(alike("small", kSmall), alike("large", kLarge), alike("packing", kPacking),
                                           Both{"small_large", kSmall, kLarge}, Both{"large_small", kLarge, kSmall},
                                           Both{"packing_small", kPacking, kSmall},
                                           Both{"packing_large", kPacking, kLarge}),
                         name_of);

// 1000 blocks of 8 bytes, in every second 8 bytes: too little to share, and packed. Where 4 KiB are enough to share,
// both copy.
TEST(LayoutsChoice, GoesByTheThresholds) {
  const layout::Shape every_second(layout::TypeMap::vector(1000, 1, 2, layout::TypeMap::bytes(8)));
  const Elements from{nullptr, 1, &every_second};
  EXPECT_EQ(choose_copying(from, 8000, {}, false), Copying::sender);
  EXPECT_EQ(choose_copying(from, 8000, {.pack_below = 8001, .short_block = 0}, false), Copying::sender);
  EXPECT_EQ(choose_copying(from, 8000, {.loose = 4, .share_from = 4000}, false), Copying::both);
  EXPECT_EQ(choose_copying(from, 8000, {.loose = 4, .share_from = 4000}, true), Copying::sender) << "an exchange";
  EXPECT_EQ(choose_copying(from, 8000, {.loose = 4, .share_from = 4000, .exchange_block = 0}, true), Copying::both);
  EXPECT_EQ(choose_copying(from, 8000, {.share_from = 8001, .short_block = 0}, false), Copying::receiver);
}

TEST(PackAcross, IsPack) {
  const layout::Shape shape(layout::TypeMap::vector(5000, 3, 5, layout::TypeMap::bytes(1)));
  std::vector<std::byte> memory(5000 * 5);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 7 + i / 256);
  for (const Elements& from : {Elements{memory.data(), 1, &shape}, Elements{memory.data(), 15'000, nullptr}}) {
    for (const std::size_t bytes : {0UL, 1UL, kAcrossLeast - 1, kAcrossLeast, 4095UL, 4096UL, 4097UL, 12'289UL}) {
      for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{1234}, 15'000 - bytes}) {
        std::vector<std::byte> expected(bytes + 1, std::byte{9}), packed = expected;
        pack(from, at, std::span(expected).first(bytes));
        pack_across(from, at, std::span(packed).first(bytes));
        EXPECT_EQ(packed, expected) << bytes << " from " << at;
      }
    }
  }
}

// A layout whose request was given back early is released when the receiver has copied, and not before.
TEST(LayoutsInUse, AreHeldUntilTheMessageIsOver) {
  static int release_layout = 0;
  release_layout = 0;
  RandomTypes random(4);
  Side out(random, 5'000, false, false);
  Side in(random, out.offsets.size(), true, false);
  Endpoint sender(Callers::one, {}, {Copying::receiver});
  Endpoint receiver(Callers::one);
  Request* send = sender.send(receiver.port(), {1, 0, 0}, out.buffer(), Mode::synchronous);
  ASSERT_NE(send, nullptr);
  sender.release(*send, [](const Request&) { ++release_layout; });
  sender.progress();
  EXPECT_EQ(release_layout, 0);
  Request& receive = receiver.receive({1, 0, 0}, in.buffer());
  receiver.wait(receive);
  receiver.release(receive);
  sender.progress();
  EXPECT_EQ(release_layout, 1);
}

}  // namespace
}  // namespace urakata::p2p::test::layouts_test
