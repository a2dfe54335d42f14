// SPDX-License-Identifier: BSD-3-Clause
// What an exchange takes: two ranks, each on a core of its own, that do nothing else. Run by hand:
//     build/tests/test_halo --gtest_also_run_disabled_tests --gtest_filter='*DISABLED*'
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstdio>
#include <thread>

#include "base/clock.hpp"
#include "neighbourhood.hpp"

namespace urakata::halo::test {
namespace {

void stay_on(unsigned cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

// What the program does with each word that it sends before an exchange, and receives after.
void write_words(std::byte* memory, std::uint64_t blocks, std::uint64_t block, std::uint64_t gap, std::uint64_t value) {
  for (std::uint64_t i = 0; i < blocks; ++i) {
    for (std::uint64_t at = 0; at + 8 <= block; at += 8) std::memcpy(memory + i * (block + gap) + at, &value, 8);
  }
}
std::uint64_t read_words(const std::byte* memory, std::uint64_t blocks, std::uint64_t block, std::uint64_t gap) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    for (std::uint64_t at = 0; at + 8 <= block; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, memory + i * (block + gap) + at, 8);
      sum += word;
    }
  }
  return sum;
}

// Prints the median over rounds of `repeats` exchanges of two ranks with `channels` channels each way, each of
// `blocks` blocks. `fresh`: a rank writes each word before it sends it, and reads each word that it has received. This
// counts, too.
void measure(std::uint64_t channels, std::uint64_t blocks, std::uint64_t block, std::uint64_t gap, bool fresh,
             const Costs& costs) {
  constexpr std::size_t kRounds = 31;
  const std::uint64_t bytes = blocks * block;
  const std::uint64_t room = blocks * (block + gap);
  const std::uint64_t repeats = bytes < 10'000 ? 1000 : 100;
  const Form form = gap == 0 ? plain(bytes) : strided(blocks, block, gap);
  std::vector<TestChannel> all_channels;
  for (std::uint64_t i = 0; i < channels; ++i) {
    all_channels.push_back({0, 1, form, form});
    all_channels.push_back({1, 0, form, form});
  }
  Neighbourhood all(2, all_channels, costs);
  all.join_all();
  std::array<std::uint64_t, kRounds> whole{};
  std::array<std::uint64_t, kRounds> starts{};
  std::barrier<> both(2);
  const p2p::BackoffSettings settings{false, p2p::pauses_between_polls(), nullptr};
  const auto play = [&](unsigned self) {
    stay_on(self);
    NeighbourhoodChannel& halo = *all.rank[self].halo;
    Bytes from(channels * room);
    Bytes to(channels * room);
    std::uint64_t seen = 0;
    for (std::size_t round = 0; round < kRounds; ++round) {
      both.arrive_and_wait();
      const std::uint64_t first = now_ns();
      std::uint64_t start = 0;
      for (std::uint64_t i = 0; i < repeats; ++i) {
        if (fresh) write_words(from.data(), channels * blocks, block, gap, i + 1);
        const std::uint64_t before = channels > 1 ? now_ns() : 0;
        halo.begin(from.data(), to.data());
        if (channels > 1) start += now_ns() - before;
        halo.wait(settings);
        if (fresh) seen += read_words(to.data(), channels * blocks, block, gap);
      }
      if (self == 0) whole[round] = (now_ns() - first) / repeats;
      if (self == 0) starts[round] = start / repeats;
    }
    EXPECT_TRUE(!fresh || seen != 0);
  };
  std::thread other(play, 1);
  std::thread own(play, 0);
  other.join();
  own.join();
  const Counts& counts = all.rank[0].halo->counts();
  printf("  %2llu x %5llu x %6llu B %-5s in slot %3.0f %%  direct %3.0f %%  bounced %3.0f %%  rendezvous %3.0f %%",
         static_cast<unsigned long long>(channels), static_cast<unsigned long long>(blocks),
         static_cast<unsigned long long>(block), fresh ? "fresh" : "same",
         100.0 * static_cast<double>(counts.in_slot) / static_cast<double>(counts.put_flags()),
         100.0 * static_cast<double>(counts.direct) / static_cast<double>(counts.put_flags()),
         100.0 * static_cast<double>(counts.bounced) / static_cast<double>(counts.put_flags()),
         100.0 * static_cast<double>(counts.rendezvous) / static_cast<double>(counts.put_flags()));
  std::sort(whole.begin(), whole.end());
  std::sort(starts.begin(), starts.end());
  printf("  %7llu ns (least %llu)", static_cast<unsigned long long>(whole[kRounds / 2]),
         static_cast<unsigned long long>(whole[0]));
  if (channels > 1) {
    printf(", of which start %llu (%llu)", static_cast<unsigned long long>(starts[kRounds / 2]),
           static_cast<unsigned long long>(starts[0]));
  }
  printf("\n");
}

TEST(Bench, DISABLED_Exchange) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  measure(1, 1, 8, 0, false, {});
  measure(6, 1, 8, 0, false, {.shared_most = 0});
  measure(6, 1, 8, 0, false, {});  // by one channel
  const Costs bounce{.pull_least = UINT64_MAX, .bounce_most = UINT64_MAX, .direct_least = UINT64_MAX};
  Costs direct = bounce;
  direct.direct_least = direct.short_bounce_most = 0;
  const std::array<std::pair<const char*, Costs>, 4> ways{
      {{"pulled", {.pull_least = 0, .short_bounce_most = 0}},
       {"direct or bounced", direct},
       {"bounced only", bounce},
       {"rendezvous", {.pull_least = UINT64_MAX, .bounce_most = 0, .short_bounce_most = 0}}}};
  for (const std::uint64_t bytes : {256U, 1024U, 4096U, 8192U, 32768U, 262'144U, 1'048'576U}) {
    for (const std::uint64_t block : {bytes, std::uint64_t{512}, std::uint64_t{64}, std::uint64_t{8}}) {
      if (block > bytes) continue;
      const std::uint64_t gap = block == bytes ? 0 : block == 8 ? 120 : 16;
      for (const auto& [name, costs] : ways) {
        measure(1, 1, 8, 0, false, {});  // how far the cores are from each other at present
        printf("%-17s", name);
        measure(1, bytes / block, block, gap, true, costs);
      }
    }
  }
}

}  // namespace
}  // namespace urakata::halo::test
