// SPDX-License-Identifier: BSD-3-Clause
// An endpoint communicator of five ranks: 0 receives, 1 and 2 are in its space, 3 and 4 outside. Receives name one of
// them or any; each message is received once, by the oldest receive that it matches.
#include "messages/mixed_receive.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../seed.hpp"
#include "messages/mixed_queue.hpp"
#include "model_native_receives.hpp"

namespace urakata::messages::test {
namespace {

constexpr std::int32_t kRanks = 5;
constexpr std::int32_t kFirstOutside = 3;
constexpr std::uint32_t kContext = 6;

struct Receive {
  MessageDescriptor descriptor;
  std::unique_ptr<MixedReceive> mixed;
  std::unique_ptr<std::uint64_t> payload = std::make_unique<std::uint64_t>(0);
  bool* alive = nullptr;

  ~Receive() {
    if (alive != nullptr) *alive = false;
  }
};

// One rank and its peers.
class Scene {
 public:
  explicit Scene(p2p::Callers callers = p2p::Callers::one)
      : here(callers), queue(here, native, callers == p2p::Callers::many) {
    std::vector<EndpointComm::Peer> peers(kRanks);
    for (std::size_t i = 0; i < kFirstOutside; ++i) {
      senders.push_back(std::make_unique<p2p::Endpoint>(p2p::Callers::one));
      peers[i] = {i == 0 ? &here.port() : &senders[i]->port(), kContext};
    }
    endpoint_comm = EndpointComm::make(native, 1, 0, kContext, std::move(peers));
    native.endpoint = &here;
    // The message may still come, into a buffer that stays readable and writable, as a program's must.
    native.disposed = [this](void* owner) {
      const std::unique_ptr<Receive> receive(static_cast<Receive*>(owner));
      buffers.push_back(std::move(receive->payload));
    };
  }
  ~Scene() {
    EXPECT_TRUE(endpoint_comm->unused());
    endpoint_comm->close({});
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  void send(std::int32_t source, std::int32_t tag, std::uint64_t number) {
    const p2p::Envelope envelope{kContext, source, tag};
    if (source >= kFirstOutside) return native.arrive({envelope, number});
    p2p::Endpoint& sender = *senders[static_cast<std::size_t>(source)];
    p2p::Request* open =
        sender.send(here.port(), envelope, {reinterpret_cast<std::byte*>(&number), 8, nullptr}, p2p::Mode::buffered);
    if (open != nullptr) sender.release(*open);
  }

  std::unique_ptr<Receive> receive(std::int32_t source, std::int32_t tag) {
    auto made = std::make_unique<Receive>();
    made->descriptor.endpoint_comm = endpoint_comm;
    made->descriptor.buffer = {reinterpret_cast<std::byte*>(made->payload.get()), 8, nullptr};
    route_receive(source, tag, made->descriptor);
    made->mixed = MixedReceive::start(queue, made->descriptor, made.get());
    return made;
  }

  // Everything moves as far as it can.
  void settle() {
    for (bool moved = true; moved;) {
      moved = here.progress();
      for (auto& sender : senders) moved = sender->progress() || moved;
      moved = queue.progress() || moved;
    }
  }

  // The envelope of the message that a receive which is done has got; nothing where it was cancelled.
  std::optional<p2p::Envelope> end(Receive& receive) {
    const MixedReceive::End end = receive.mixed->end();
    EXPECT_EQ(end.code, 0);
    if (end.request.has_value()) {
      const auto got = native.complete(*end.request);
      if (!got) return std::nullopt;
      EXPECT_EQ(got->number, *receive.payload);
      return got->envelope;
    }
    if (end.result.outcome == p2p::Outcome::cancelled) return std::nullopt;
    EXPECT_EQ(end.result.bytes, 8U);
    return p2p::Envelope{kContext, end.result.source, end.result.tag};
  }

  ModelNativeReceives native;
  p2p::Endpoint here;
  std::vector<std::unique_ptr<p2p::Endpoint>> senders;
  std::vector<std::unique_ptr<std::uint64_t>> buffers;  // of receives that are gone
  EndpointComm* endpoint_comm = nullptr;
  MixedQueue queue;
};

TEST(MixedReceive, RandomMessagesAreMatchedInOrder) {
  const std::uint64_t seed = drawn_seed();
  std::mt19937_64 random(seed);
  const auto draw = [&](std::uint64_t below) { return static_cast<std::int32_t>(random() % below); };
  constexpr std::uint64_t kMessages = 40'000;
  constexpr std::size_t kMostOpen = 12;

  Scene scene;
  scene.native.slow = [&] { return random() % 4 == 0; };
  std::vector<p2p::Envelope> sent{{}};  // by number, from 1
  std::vector<bool> received{true};
  std::vector<std::unique_ptr<Receive>> open;  // in the order in which they were posted
  std::size_t lost = 0;                        // messages that receives got which the program had given back
  std::vector<std::unique_ptr<bool>> given_back;

  const auto check = [&](Receive& receive, std::size_t at) {
    const auto got = scene.end(receive);
    if (!got) return;
    const std::uint64_t number = *receive.payload;
    ASSERT_LT(number, sent.size());
    ASSERT_EQ(*got, sent[number]);
    ASSERT_TRUE(p2p::matches(receive.descriptor.envelope, *got));
    ASSERT_FALSE(received[number]);
    received[number] = true;
    // No older receive that nobody has matched could take it.
    for (std::size_t i = 0; i < at; ++i) {
      if (open[i]->mixed->done() || scene.native.matched(open[i]->descriptor)) continue;
      ASSERT_FALSE(p2p::matches(open[i]->descriptor.envelope, *got)) << "overtaken";
    }
  };

  while (received.size() <= kMessages) {
    for (std::int32_t n = draw(4); n > 0; --n) {
      const std::int32_t source = 1 + draw(kRanks - 1);
      const std::int32_t tag = draw(3);
      sent.push_back({kContext, source, tag});
      received.push_back(false);
      scene.send(source, tag, sent.size() - 1);
    }
    for (std::int32_t n = draw(5); n > 0 && open.size() < kMostOpen; --n) {
      const std::int32_t source = draw(2) == 0 ? p2p::kAnySource : kFirstOutside + draw(2);
      open.push_back(scene.receive(source, draw(2) == 0 ? p2p::kAnyTag : draw(3)));
    }
    if (draw(16) == 0 && !open.empty()) open[static_cast<std::size_t>(draw(open.size()))]->mixed->cancel();
    if (draw(64) == 0 && !open.empty() && !open.back()->mixed->done()) {
      auto flag = std::make_unique<bool>(true);
      Receive* const receive = open.back().release();
      open.pop_back();
      receive->alive = flag.get();
      if (receive->mixed->abandon()) {
        given_back.push_back(std::move(flag));
      } else {  // the MPI library goes on with it by itself
        scene.buffers.push_back(std::move(receive->payload));
        delete receive;
      }
    }
    if (draw(3) != 0) scene.settle();
    if (draw(8) == 0) {  // nothing waits at the MPI library for a receive that is open
      scene.native.slow = [] { return false; };
      scene.settle();
      for (const auto& receive : open) {
        if (receive->mixed->done()) continue;
        ASSERT_FALSE(scene.native.has_message_for(receive->descriptor.envelope));
      }
      scene.native.slow = [&] { return random() % 4 == 0; };
    }
    for (std::size_t i = 0; i < open.size();) {
      if (!open[i]->mixed->done()) {
        ++i;
        continue;
      }
      check(*open[i], i);
      if (HasFatalFailure()) return;
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  scene.native.slow = [] { return false; };
  for (const auto& receive : open) receive->mixed->cancel();
  scene.settle();
  for (const auto& receive : open) {
    ASSERT_TRUE(receive->mixed->done());
    check(*receive, 0);
  }
  open.clear();
  // What is left comes in the order in which each source has sent it.
  std::vector<std::uint64_t> last(kRanks, 0);
  for (;;) {
    const auto receive = scene.receive(p2p::kAnySource, p2p::kAnyTag);
    scene.settle();
    if (!receive->mixed->done()) {
      receive->mixed->cancel();
      EXPECT_FALSE(scene.end(*receive).has_value());
      break;
    }
    check(*receive, 0);
    std::uint64_t& before = last[static_cast<std::size_t>(sent[*receive->payload].source)];
    EXPECT_LT(before, *receive->payload);
    before = *receive->payload;
  }
  for (std::size_t i = 1; i < received.size(); ++i) lost += received[i] ? 0 : 1;
  EXPECT_LE(lost, kMessages / 64);
  for (const auto& flag : given_back) EXPECT_FALSE(*flag);
  EXPECT_FALSE(scene.queue.waiting());
}

// Another thread takes the MPI library's message between probe and receive: the receive is at the endpoint again.
TEST(MixedReceive, AStolenMessageLeavesTheReceivePosted) {
  Scene scene;
  const auto receive = scene.receive(p2p::kAnySource, 0);
  bool steal = true;
  scene.native.stolen = [&] { return steal; };
  scene.send(3, 0, 9);
  EXPECT_FALSE(scene.queue.progress());
  EXPECT_FALSE(receive->mixed->done());
  scene.send(1, 0, 10);
  scene.settle();
  ASSERT_TRUE(receive->mixed->done());
  scene.end(*receive);
  EXPECT_EQ(*receive->payload, 10U);
  steal = false;
  const auto second = scene.receive(3, 0);
  scene.settle();
  ASSERT_TRUE(second->mixed->done());
  scene.end(*second);
  EXPECT_EQ(*second->payload, 9U);
}

// The MPI library refuses a receive from rank 3: it is done, with the MPI library's code.
TEST(MixedReceive, TheLibrarysRefusalIsHandedOn) {
  Scene scene;
  scene.native.refusal = 15;
  const auto receive = scene.receive(3, 0);
  ASSERT_TRUE(receive->mixed->done());
  EXPECT_EQ(receive->mixed->end().code, 15);
}

// A stream from the space: the MPI library's message is received all the same.
TEST(MixedReceive, AStreamOfTheSpaceKeepsNobodyOut) {
  Scene scene;
  scene.send(4, 0, 1);
  bool outside = false;
  for (std::uint64_t n = 2; n < 40; ++n) {
    scene.send(1, 0, n);
    const auto receive = scene.receive(p2p::kAnySource, 0);
    scene.settle();
    ASSERT_TRUE(receive->mixed->done());
    outside = scene.end(*receive)->source == 4 || outside;
  }
  EXPECT_TRUE(outside);
}

// What a blocking call has on its stack: from either side, also behind an older receive, and refused.
TEST(MixedReceive, ACallerThatWaitsHoldsItsReceiveItself) {
  Scene scene;
  const auto older = scene.receive(p2p::kAnySource, 1);
  const auto receive_now = [&](std::int32_t from, std::int32_t tag) {
    std::uint64_t payload = 0;
    MessageDescriptor descriptor;
    descriptor.endpoint_comm = scene.endpoint_comm;
    descriptor.buffer = {reinterpret_cast<std::byte*>(&payload), 8, nullptr};
    route_receive(from, tag, descriptor);
    MixedReceive receive(scene.queue, descriptor);
    scene.settle();
    EXPECT_TRUE(receive.done());
    const MixedReceive::End end = receive.end();
    if (end.request.has_value()) scene.native.complete(*end.request);
    return end.code != 0 ? 0 : payload;
  };
  for (const std::int32_t source : {1, 3}) {
    scene.send(source, 0, static_cast<std::uint64_t>(source));
    EXPECT_EQ(receive_now(p2p::kAnySource, 0), static_cast<std::uint64_t>(source));
  }
  scene.send(3, 0, 5);
  EXPECT_EQ(receive_now(3, 0), 5U);
  scene.send(3, 1, 6);
  scene.send(3, 1, 7);
  EXPECT_EQ(receive_now(p2p::kAnySource, 1), 7U);  // the first is the older receive's
  ASSERT_TRUE(older->mixed->done());
  EXPECT_EQ(scene.end(*older)->source, 3);
  EXPECT_EQ(*older->payload, 6U);
  scene.native.refusal = 15;
  EXPECT_EQ(receive_now(3, 0), 0U);
}

// Who has brought the last messages is asked most: the endpoint in each turn, or in few where the MPI library has.
TEST(MixedReceive, WhoBringsMessagesIsAskedMost) {
  Scene scene;
  const auto receive = [&](std::int32_t source) {
    const auto any = scene.receive(p2p::kAnySource, 0);
    scene.send(source, 0, 1);
    scene.settle();
    ASSERT_TRUE(any->mixed->done());
    scene.end(*any);
  };
  EXPECT_EQ(scene.queue.turns_of_endpoint(), 1U);
  receive(3);
  const unsigned most = scene.queue.turns_of_endpoint();
  EXPECT_GT(most, 1U);
  receive(1);
  EXPECT_LT(scene.queue.turns_of_endpoint(), most);
  for (unsigned i = 0; i < most; ++i) receive(1);
  EXPECT_EQ(scene.queue.turns_of_endpoint(), 1U);
  receive(4);
  EXPECT_EQ(scene.queue.turns_of_endpoint(), most);
}

TEST(MixedReceive, ReceivesFromOutsideStandBehindThoseFromAnySource) {
  Scene scene;
  MessageDescriptor from_outside;
  from_outside.endpoint_comm = scene.endpoint_comm;
  route_receive(3, 0, from_outside);
  EXPECT_TRUE(scene.queue.free_for_native(from_outside));
  const auto any = scene.receive(p2p::kAnySource, p2p::kAnyTag);
  EXPECT_FALSE(scene.queue.free_for_native(from_outside));
  scene.endpoint_comm->assertions = EndpointComm::kNoAnySource;
  EXPECT_TRUE(scene.queue.free_for_native(from_outside));
  any->mixed->cancel();
  EXPECT_FALSE(scene.end(*any).has_value());
}

// Two threads receive from any source, each with a tag of its own, while 1 sends in the space and 3 outside of it.
TEST(MixedReceive, ThreadsReceiveAtOnce) {
  constexpr std::uint64_t kEach = 2'000;  // from each source with each tag
  Scene scene(p2p::Callers::many);
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> threads;
  for (std::int32_t tag = 0; tag < 2; ++tag) {
    threads.emplace_back([&, tag] {
      std::vector<std::uint64_t> last(kRanks, 0);
      for (std::uint64_t n = 0; n < 2 * kEach; ++n) {
        const auto receive = scene.receive(p2p::kAnySource, tag);
        while (!receive->mixed->done()) {
          const bool moved = scene.here.progress();
          if (!scene.queue.progress() && !moved) std::this_thread::yield();
        }
        const auto got = scene.end(*receive);
        ASSERT_TRUE(got.has_value());
        std::uint64_t& before = last[static_cast<std::size_t>(got->source)];
        EXPECT_LT(before, *receive->payload);
        before = *receive->payload;
        sum += *receive->payload;
      }
    });
  }
  threads.emplace_back([&] {
    for (std::uint64_t n = 1; n <= kEach; ++n) {
      for (std::int32_t tag = 0; tag < 2; ++tag) scene.send(1, tag, n);
      scene.senders[1]->progress();
    }
    while (!scene.senders[1]->idle()) {
      if (!scene.senders[1]->progress()) std::this_thread::yield();
    }
  });
  threads.emplace_back([&] {
    for (std::uint64_t n = 1; n <= kEach; ++n) {
      for (std::int32_t tag = 0; tag < 2; ++tag) scene.send(3, tag, n);
    }
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum.load(), 2 * kEach * (kEach + 1));
}

}  // namespace
}  // namespace urakata::messages::test
