// SPDX-License-Identifier: BSD-3-Clause
// Random neighbourhoods with a thread for each rank. Channels lead one way, both ways, twice, and to the rank itself.
// Elements are plain, strided or listed, of 0 B to 1 MiB. Two neighbourhood channels overlap. Ranks come late,
// complete exchanges by any function, and reuse their buffers at once. Every payload arrives whole, and nothing else
// is written. In every second round the ranks lie in several spaces, and one more thread polls the wires, as a
// progress thread does.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

#include "../seed.hpp"
#include "neighbourhood.hpp"
#include "random_channels.hpp"

namespace urakata::halo::test {
namespace {

// What all ranks of one round share.
struct Round {
  explicit Round(std::uint64_t seed)
      : dice(seed),
        ranks(1 + static_cast<std::uint32_t>(dice.below(4))),
        barrier(ranks),
        network(ranks, [this] { return puts.fetch_add(1) % 3 != 0; }) {
    const std::uint64_t count = dice.one_in(2) ? 1 : 1 + dice.below(ranks);
    for (std::uint32_t r = 0; r < ranks; ++r) spaces.push_back(static_cast<std::uint32_t>(dice.below(count)));
    for (auto& one : channels) one = draw_channels(dice, ranks);
    std::uint64_t bytes = 1;
    for (const auto& one : channels) {
      for (const TestChannel& channel : one) bytes += channel.out.bytes();
    }
    exchanges = std::max<std::uint64_t>(3, std::min<std::uint64_t>(100, (1 << 20) / bytes));
    for (std::size_t p = 0; p < channels.size(); ++p) records[p].resize(channels[p].size());
    shared_most = dice.of(std::array<std::uint64_t, 4>{0, 100, 64 << 10, UINT64_MAX});
  }
  Dice dice;
  std::uint32_t ranks;
  std::barrier<> barrier;
  std::array<std::vector<TestChannel>, 2> channels;
  std::array<std::vector<Record>, 2> records;
  std::uint64_t exchanges = 0;
  std::uint64_t shared_most = 0;
  std::vector<std::uint32_t> spaces;  // of each rank
  std::atomic<std::uint64_t> puts{0};
  PutNetwork network;
  std::atomic<std::uint64_t> wrong{0};
};

constexpr std::size_t kPiece = 20'000;  // bytes that come from another space at once

thread_local std::array<Rank*, 2> own{};  // the thread's rank, once for each neighbourhood channel
thread_local TestWire* own_wire = nullptr;

bool move_all_on() {
  bool moved = own_wire->poll(kPiece);
  for (Rank* rank : own) moved = rank->halo->progress() || moved;
  return moved;
}

class Player {
 public:
  Player(Round& round, std::uint32_t self, std::uint64_t seed)
      : round_(round),
        dice_(seed),
        wire_(round.network.of(self)),
        rank_{Rank(self, round.channels[0], round.spaces),
              Rank(self, round.channels[1], round.spaces, dice_.one_in(2))} {}

  void play() {
    own = {&rank_[0], &rank_[1]};
    own_wire = &wire_;
    for (std::size_t p = 0; p < 2; ++p) set_up(p);
    for (std::uint64_t k = 1; k <= round_.exchanges; ++k) {
      const std::size_t first = dice_.below(2);
      for (const std::size_t p : {first, 1 - first}) begin(p, k);
      const std::size_t last = dice_.below(2);
      for (const std::size_t p : {1 - last, last}) end(p, k);
    }
    for (Rank& rank : rank_) rank.halo->retire();
    for (Rank& rank : rank_) {
      while (!rank.halo->released()) std::this_thread::yield();
      rank.halo.reset();
    }
    round_.barrier.arrive_and_wait();  // what others wait for from here has left
  }

 private:
  void late() {
    if (dice_.one_in(2)) return;
    for (std::uint64_t left = dice_.below(dice_.one_in(8) ? 30 : 3); left != 0; --left) std::this_thread::yield();
  }

  void set_up(std::size_t p) {
    Rank& rank = rank_[p];
    rank.make(draw_costs(dice_, round_.shared_most), &wire_);
    for (std::size_t i = 0; i < rank.sending.size(); ++i) round_.records[p][rank.sending[i]] = rank.halo->record(i);
    round_.barrier.arrive_and_wait();
    for (std::size_t i = 0; i < rank.receiving.size(); ++i) {
      if (rank.halo->join(i, round_.records[p][rank.receiving[i]]) != Fit::good) ++round_.wrong;
    }
    round_.barrier.arrive_and_wait();
  }

  Bytes payload(std::size_t p, std::uint64_t k, std::size_t channel) const {
    return payload_of(k + p * 7, channel, round_.channels[p][channel].out.bytes());
  }

  void begin(std::size_t p, std::uint64_t k) {
    Rank& rank = rank_[p];
    for (std::size_t i = 0; i < rank.sending.size(); ++i) rank.fill(i, payload(p, k, rank.sending[i]));
    late();
    rank.begin();
    late();
  }

  void check(std::size_t p, std::uint64_t k, std::size_t in) {
    if (!rank_[p].holds(in, payload(p, k, rank_[p].receiving[in]))) ++round_.wrong;
  }

  void end(std::size_t p, std::uint64_t k) {
    Rank& rank = rank_[p];
    NeighbourhoodChannel& halo = *rank.halo;
    const std::size_t channels = rank.receiving.size();
    const std::uint64_t how = dice_.below(4);
    if (how == 0) {
      for (std::size_t told = 0; told < channels;) {
        if (const auto in = halo.ready_any()) {
          check(p, k, *in);
          ++told;
        } else {
          step();
        }
      }
    } else if (how == 1) {
      const std::size_t first = channels == 0 ? 0 : dice_.below(channels);
      for (std::size_t i = 0; i < channels; ++i) {
        const std::size_t in = (first + i) % channels;
        while (!halo.ready(in)) step();
        check(p, k, in);
      }
    }
    if (how == 2) {
      halo.wait({dice_.one_in(2), 0, move_all_on});
    } else {
      while (!halo.complete()) step();
    }
    for (std::size_t in = 0; how >= 2 && in < channels; ++in) check(p, k, in);
  }

  void step() {
    move_all_on();
    late();
  }

  Round& round_;
  Dice dice_;
  TestWire& wire_;
  std::array<Rank, 2> rank_;
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kRounds = 40;
#else
constexpr std::uint64_t kRounds = 200;
#endif

TEST(NeighbourhoodChannel, RandomNeighbourhoods) {
  const std::uint64_t seed = drawn_seed();
  std::uint64_t exchanges = 0;
  for (std::uint64_t number = 0; number < kRounds; ++number) {
    const std::uint64_t own_seed = seed + number * 1000;
    Round round(own_seed);
    std::vector<std::thread> threads;
    for (std::uint32_t r = 0; r < round.ranks; ++r) {
      threads.emplace_back([&, r] { Player(round, r, own_seed + 1 + r).play(); });
    }
    std::atomic<bool> over{false};
    std::thread progress_thread([&] {
      for (std::uint32_t r = 0; !over; r = (r + 1) % round.ranks) {
        round.network.of(r).poll(kPiece);
        std::this_thread::yield();
      }
    });
    for (std::thread& thread : threads) thread.join();
    over = true;
    progress_thread.join();
    round.wrong += round.network.refused();
    exchanges += 2 * round.exchanges * round.ranks;
    ASSERT_EQ(round.wrong.load(), 0U) << "round " << number;
  }
  printf("%llu exchanges\n", static_cast<unsigned long long>(exchanges));
  EXPECT_GT(exchanges, 50 * kRounds);
}

}  // namespace
}  // namespace urakata::halo::test
