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

// The median over rounds of `repeats` exchanges of two ranks with as many edges each way. Fresh: a rank writes a word of
// each line that it sends before, and reads one of each line that it has received after, which counts as well.
void measure(std::uint64_t edges, std::uint64_t bytes, bool fresh, const Costs& costs) {
  constexpr std::size_t kRounds = 101;
  const std::uint64_t repeats = bytes < 10'000 ? 1000 : 100;
  std::vector<TestEdge> all_edges;
  for (std::uint64_t i = 0; i < edges; ++i) {
    all_edges.push_back(edge(0, 1, bytes));
    all_edges.push_back(edge(1, 0, bytes));
  }
  Neighbourhood all(2, all_edges, costs);
  all.join_all();
  std::array<std::uint64_t, kRounds> whole{};
  std::array<std::uint64_t, kRounds> starts{};
  std::barrier<> both(2);
  const p2p::BackoffSettings settings{false, p2p::pauses_between_polls(), nullptr};
  const auto play = [&](unsigned self) {
    stay_on(self);
    Plan& plan = *all.rank[self].plan;
    Bytes from(edges * bytes);
    Bytes to(edges * bytes);
    std::uint64_t seen = 0;
    for (std::size_t round = 0; round < kRounds; ++round) {
      both.arrive_and_wait();
      const std::uint64_t first = now_ns();
      std::uint64_t start = 0;
      for (std::uint64_t i = 0; i < repeats; ++i) {
        for (std::size_t at = 0; fresh && at < from.size(); at += kLine) from[at] = static_cast<std::byte>(i);
        const std::uint64_t before = edges > 1 ? now_ns() : 0;
        plan.begin(from.data(), to.data());
        if (edges > 1) start += now_ns() - before;
        plan.wait(settings);
        for (std::size_t at = 0; fresh && at < to.size(); at += kLine) seen += static_cast<std::uint64_t>(to[at]);
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
  const Counts& counts = all.rank[0].plan->counts();
  printf("  %2llu x %7llu B %-5s in line %3.0f %%  direct %3.0f %%  landed %3.0f %%  offered %3.0f %%",
         static_cast<unsigned long long>(edges), static_cast<unsigned long long>(bytes), fresh ? "fresh" : "same",
         100.0 * static_cast<double>(counts.in_line) / static_cast<double>(counts.arrival_marks()),
         100.0 * static_cast<double>(counts.direct) / static_cast<double>(counts.arrival_marks()),
         100.0 * static_cast<double>(counts.landed) / static_cast<double>(counts.arrival_marks()),
         100.0 * static_cast<double>(counts.offered) / static_cast<double>(counts.arrival_marks()));
  std::sort(whole.begin(), whole.end());
  std::sort(starts.begin(), starts.end());
  printf("  %7llu ns (least %llu)", static_cast<unsigned long long>(whole[kRounds / 2]),
         static_cast<unsigned long long>(whole[0]));
  if (edges > 1) {
    printf(", of which start %llu (%llu)", static_cast<unsigned long long>(starts[kRounds / 2]),
           static_cast<unsigned long long>(starts[0]));
  }
  printf("\n");
}

TEST(Bench, DISABLED_Exchange) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  measure(1, 8, false, {});
  measure(6, 8, false, {});
  const std::array<std::pair<const char*, Costs>, 4> ways{
      {{"pulled", {.pull_least = 0}},
       {"direct or landed", {.pull_least = UINT64_MAX}},
       {"landing only", {.pull_least = UINT64_MAX, .direct_least = UINT64_MAX}},
       {"offered", {.pull_least = UINT64_MAX, .landing_most = 0}}}};
  for (const auto& [name, costs] : ways) {
    printf("%s\n", name);
    for (const std::uint64_t bytes : {256U, 1024U, 4096U, 32768U, 262'144U}) {
      Costs these = costs;
      if (these.landing_most != 0) these.landing_most = UINT64_MAX;
      measure(1, bytes, false, these);
      measure(1, bytes, true, these);
    }
    measure(6, 4096, true, costs);
  }
}

}  // namespace
}  // namespace urakata::halo::test
