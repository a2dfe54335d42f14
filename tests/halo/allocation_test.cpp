// Exchanges allocate nothing, whichever way the payloads go.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "neighbourhood.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) std::abort();
  return memory;
}
}  // namespace

// In place of those of this whole test program.
void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace urakata::halo::test {
namespace {

TEST(Plan, ExchangesAllocateNothing) {
  for (const Costs& costs : {Costs{}, Costs{.pull_least = 0, .shared_most = 0}}) {
    Neighbourhood all(3,
                      {edge(0, 1, 8),
                       edge(1, 0, 8),
                       edge(0, 1, 4096),
                       edge(1, 0, 4096),
                       edge(0, 2, 8),
                       edge(0, 0, 64),
                       edge(2, 1, 0),
                       {1, 2, strided(500, 200, 8), strided(1000, 100, 8)}},
                      costs);
    all.join_all();
    std::uint64_t before = 0;
    for (std::uint64_t k = 1; k <= 6; ++k) {
      if (k == 2) before = allocations.load();
      for (Rank& rank : all.rank) rank.begin();
      for (Rank& rank : all.rank) {
        while (rank.plan->ready_any().has_value()) continue;
      }
      for (Rank& rank : all.rank) EXPECT_TRUE(test(rank));
    }
    EXPECT_EQ(allocations.load(), before);
    EXPECT_GT(before, 0U);
  }
}

}  // namespace
}  // namespace urakata::halo::test
