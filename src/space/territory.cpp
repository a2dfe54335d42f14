#include "space/territory.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <string>

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

Status choose_territories(Registry& registry, AddressRange free, std::array<std::uint64_t, 2> random) {
  constexpr std::uint64_t kHomes = kMostTasks * kHomeBytes;
  const std::uint64_t begin = (free.begin + kHugePage - 1) & ~(kHugePage - 1);
  const std::uint64_t bytes = free.end > begin ? free.end - begin : 0;
  // A sixteenth, so that nobody can guess the addresses.
  const std::uint64_t for_arenas = bytes / 16 * 15 > kHomes ? bytes / 16 * 15 - kHomes : 0;
  registry.arena_bytes = std::min(for_arenas / kMostTasks & ~(kSmallestArena - 1), kLargestArena);
  if (registry.arena_bytes == 0) {
    return Error{"the largest free range of addresses has " + std::to_string(bytes >> 30U) +
                 " GiB, and a space needs 1400 GiB"};
  }
  const std::uint64_t slack = (bytes - kHomes - kMostTasks * registry.arena_bytes) / kHugePage;
  registry.homes = begin + random[0] % (slack / 4) * kHugePage;
  registry.arenas = registry.homes + kHomes + random[1] % (slack / 2) * kHugePage;
  return Nothing{};
}

bool territories_can_be_mapped(const Registry& registry) {
  constexpr std::uint64_t kPage = 4096;
  for (const std::uint64_t address : {registry.homes, arena_of(registry, kMostTasks - 1).end - kPage}) {
    void* const wanted = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
    void* const got = mmap(wanted, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) return false;
    munmap(got, kPage);
    if (got != wanted) return false;
  }
  return true;
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
  const std::uint64_t begin = registry.arenas + slot * registry.arena_bytes;
  return {begin, begin + registry.arena_bytes};
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
