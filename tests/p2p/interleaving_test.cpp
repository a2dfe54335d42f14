// SPDX-License-Identifier: BSD-3-Clause
// One rank sends numbered messages of all protocols to another; both stop at random between any two of their steps, for
// nothing, a yield or up to 50 us, and the receiver takes receives back and starts them again. The progress thread of
// each rank moves it on meanwhile. Every message arrives once, whole, and in order. Sizes are the first and last of
// each protocol.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../seed.hpp"
#include "base/periodic_progress.hpp"
#include "p2p/endpoint.hpp"

namespace urakata::p2p::test::interleaving_test {
namespace {

constexpr std::uint64_t kMessages = 6000;
constexpr std::size_t kOpen = 8;
constexpr std::array<std::uint64_t, 10> kSizes = {
    8, 40, 41, 256, 257, 4096, 64 << 10, (64 << 10) + 1, 256 << 10, (256 << 10) + 1};

std::uint64_t size_of(std::uint64_t number) {
  return number % 16 < 13 ? kSizes[number % 5] : kSizes[number / 16 % kSizes.size()];
}
std::byte byte_of(std::uint64_t number, std::uint64_t at) { return static_cast<std::byte>(number * 31 + at * 7); }

// Steps of one thread, with a stop before each.
class Steps {
 public:
  explicit Steps(std::uint64_t seed) : random_(seed) {}
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  void stop() {
    const std::uint64_t dice = draw(32);
    if (dice < 4) std::this_thread::yield();
    if (dice == 5) std::this_thread::sleep_for(std::chrono::microseconds(draw(50)));
  }

 private:
  std::mt19937_64 random_;
};

void send_all(Endpoint& here, PeriodicProgress& periodic, Port& to, Steps steps) {
  struct Open {
    std::vector<std::byte> payload;
    Request* request = nullptr;
  };
  std::deque<Open> open;
  for (std::uint64_t number = 0; number < kMessages || !open.empty();) {
    if (number < kMessages && open.size() < kOpen) {
      Open& next = open.emplace_back();
      next.payload.resize(size_of(number));
      for (std::size_t i = 8; i < next.payload.size(); ++i) next.payload[i] = byte_of(number, i);
      std::memcpy(next.payload.data(), &number, sizeof number);
      steps.stop();
      const auto mode = static_cast<Mode>(steps.draw(3));
      next.request = here.send(to, {1, 0, 0}, {next.payload.data(), next.payload.size(), nullptr}, mode);
      ++number;
    }
    steps.stop();
    if (steps.draw(4) == 0) periodic.expect();
    if (steps.draw(2) == 0) here.progress();
    if (steps.draw(64) == 0 && open.front().request != nullptr) here.set_aside(*open.front().request);
    steps.stop();
    while (!open.empty() && (open.front().request == nullptr || open.front().request->done())) {
      if (open.front().request != nullptr) here.release(*open.front().request);
      open.pop_front();
    }
  }
  while (!here.idle()) here.progress();
}

std::uint64_t receive_all(Endpoint& here, PeriodicProgress& periodic, Steps steps) {
  std::uint64_t wrong = 0;
  std::vector<std::byte> room(kSizes.back());
  for (std::uint64_t number = 0; number < kMessages; ++number) {
    const Envelope pattern{1, steps.draw(2) == 0 ? kAnySource : 0, 0};
    Request* receive = &here.receive(pattern, {room.data(), room.size(), nullptr});
    periodic.expect();
    while (!receive->done()) {
      steps.stop();
      if (steps.draw(16) == 0 && here.withdraw(*receive)) {
        steps.stop();
        if (steps.draw(2) == 0) {
          here.restore(*receive);
          continue;
        }
        here.discard(*receive);
        receive = &here.receive(pattern, {room.data(), room.size(), nullptr});
      }
      if (steps.draw(2) == 0) here.progress();
    }
    const std::uint64_t bytes = receive->result.bytes;
    here.release(*receive);
    std::uint64_t got = 0;
    std::memcpy(&got, room.data(), sizeof got);
    bool right = got == number && bytes == size_of(number);
    for (std::size_t i = 8; right && i < bytes; ++i) right = room[i] == byte_of(number, i);
    wrong += right ? 0 : 1;
  }
  return wrong;
}

TEST(Interleaving, NoStopLosesOrTearsAMessage) {
  const std::uint64_t seed = drawn_seed();
  Endpoint sender(Callers::many);
  Endpoint receiver(Callers::many);
  const auto progress_of = [](Endpoint& endpoint) {
    return [&endpoint] {
      endpoint.progress_if_free();
      return endpoint.open();
    };
  };
  PeriodicProgress senders("sender", "messages", progress_of(sender));
  PeriodicProgress receivers("receiver", "messages", progress_of(receiver));
  std::thread other([&] { send_all(sender, senders, receiver.port(), Steps(seed)); });
  EXPECT_EQ(receive_all(receiver, receivers, Steps(seed + 1)), 0U);
  other.join();
}

}  // namespace
}  // namespace urakata::p2p::test::interleaving_test
