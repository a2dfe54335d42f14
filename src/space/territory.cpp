#include "space/territory.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "space/maps.hpp"
#include "space/raw.hpp"

namespace urakata::space {
namespace {

constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20U;

// 0, or the kernel's error number.
int advise(std::uint64_t begin, std::uint64_t end, int advice) {
  if (begin >= end) return 0;
  // Not by madvise(), which is for the program (fork_guard.hpp).
  return static_cast<int>(-raw::call(SYS_madvise, static_cast<long>(begin), static_cast<long>(end - begin), advice));
}

// The kernel stops at the first mapping that does not take the advice (the memory of a device that is to be copied).
void advise_one_by_one(AddressRange range, int advice) {
  ProcLines lines("/proc/self/maps");
  while (const auto line = lines.next()) {
    if (const auto one = maps_line(*line)) {
      advise(std::max(one->begin, range.begin), std::min(one->end, range.end), advice);
    }
  }
}

void advise_range(AddressRange range, int advice) {
  const int failure = advise(range.begin, range.end, advice);
  // ENOMEM: there are holes; all that is mapped has the advice.
  if (failure == EINVAL) advise_one_by_one(range, advice);
}

// 0: there is no room left.
std::uint64_t claim_below(std::atomic<std::uint64_t>& edge, AddressRange whole, std::uint64_t bytes) {
  std::uint64_t present = edge.load(std::memory_order_relaxed);
  std::uint64_t place = 0;
  do {
    if (present - whole.begin < bytes + kHugePage) return 0;
    place = present - bytes;
    if (bytes % kHugePage == 0) place &= ~(kHugePage - 1);
  } while (!edge.compare_exchange_weak(present, place, std::memory_order_relaxed));
  return place;
}

}  // namespace

void choose_territories(Registry& registry, std::array<std::uint64_t, 2> random) {
  constexpr std::uint64_t kTiB = std::uint64_t{1} << 40U;
  registry.homes = 16 * kTiB + random[0] % (kTiB / 2 / kHugePage) * kHugePage;
  registry.arenas = 17 * kTiB + random[1] % (3 * kTiB / kHugePage) * kHugePage;
}

void open_territory(Registry& registry, std::size_t slot) {
  registry.tasks[slot].home_edge.store(home_of(registry, slot).end, std::memory_order_relaxed);
  registry.tasks[slot].arena_edge.store(arena_of(registry, slot).end, std::memory_order_relaxed);
}

AddressRange home_of(const Registry& registry, std::size_t slot) {
  const std::uint64_t begin = registry.homes + slot * kHomeBytes;
  return {begin, begin + kHomeBytes};
}

AddressRange arena_of(const Registry& registry, std::size_t slot) {
  const std::uint64_t begin = registry.arenas + slot * kArenaBytes;
  return {begin, begin + kArenaBytes};
}

std::uint64_t claim(const Membership& task, std::uint64_t bytes) {
  TaskRecord& record = task.registry->tasks[task.slot];
  const AddressRange arena = arena_of(*task.registry, task.slot);
  const std::uint64_t at_home = claim_below(record.home_edge, home_of(*task.registry, task.slot), bytes);
  if (at_home != 0) return at_home;
  const std::uint64_t in_arena = claim_below(record.arena_edge, arena, bytes);
  if (in_arena != 0) return in_arena;
  record.arena_edge.store(arena.end, std::memory_order_relaxed);
  return claim_below(record.arena_edge, arena, bytes);
}

void advise_own(const Membership& task, int advice) {
  advise_range(home_of(*task.registry, task.slot), advice);
  advise_range(arena_of(*task.registry, task.slot), advice);
}

void advise_others(const Membership& task, int advice) {
  for (const auto range_of : {&home_of, &arena_of}) {
    const AddressRange own = range_of(*task.registry, task.slot);
    advise_range({range_of(*task.registry, 0).begin, own.begin}, advice);
    advise_range({own.end, range_of(*task.registry, kMostTasks).begin}, advice);
  }
}

}  // namespace urakata::space
