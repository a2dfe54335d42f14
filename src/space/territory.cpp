#include "space/territory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/waiting.hpp"

namespace urakata::space {
namespace {

constexpr std::uint64_t kLook = 5'000'000;  // ns between looks whether the holder is still alive
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20U;

// 0, or what the kernel says.
int advise(std::uint64_t begin, std::uint64_t end, int advice) {
  if (begin >= end) return 0;
  return madvise(reinterpret_cast<void*>(begin), end - begin, advice) == 0 ? 0 : errno;  // NOLINT
}

// The kernel stops at the first mapping that does not take the advice (the memory of a device that is to be copied).
void advise_one_by_one(Territory range, int advice) {
  FILE* const file = std::fopen("/proc/self/maps", "re");
  if (file == nullptr) return;
  char* line = nullptr;
  std::size_t room = 0;
  while (getline(&line, &room, file) > 0) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line, "%lx-%lx", &begin, &end) == 2 && begin < range.end && end > range.begin) {
      advise(begin, end, advice);
    }
  }
  std::free(line);
  std::fclose(file);
}

void advise_range(Territory range, int advice) {
  const int failure = advise(range.begin, range.end, advice);
  // ENOMEM: there are holes; all that is mapped has the advice.
  if (failure == EINVAL) advise_one_by_one(range, advice);
}

// 0: there is no room left.
std::uint64_t claim_below(std::atomic<std::uint64_t>& edge, Territory whole, std::uint64_t bytes) {
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
  constexpr std::uint64_t kChoices = 8 * kTiB / kHugePage;
  registry.homes = 16 * kTiB + random[0] % kChoices * kHugePage;
  registry.lands = 32 * kTiB + random[1] % kChoices * kHugePage;
  for (std::size_t slot = 0; slot < kMostTasks; ++slot) {
    registry.tasks[slot].home_edge.store(home_of(registry, slot).end, std::memory_order_relaxed);
    registry.tasks[slot].land_edge.store(land_of(registry, slot).end, std::memory_order_relaxed);
  }
}

Territory home_of(const Registry& registry, std::size_t slot) {
  const std::uint64_t begin = registry.homes + slot * kHomeBytes;
  return {begin, begin + kHomeBytes};
}

Territory land_of(const Registry& registry, std::size_t slot) {
  const std::uint64_t begin = registry.lands + slot * kLandBytes;
  return {begin, begin + kLandBytes};
}

std::uint64_t claim(Registry& registry, std::size_t slot, std::uint64_t bytes) {
  TaskRecord& task = registry.tasks[slot];
  const std::uint64_t at_home = claim_below(task.home_edge, home_of(registry, slot), bytes);
  if (at_home != 0) return at_home;
  const std::uint64_t on_land = claim_below(task.land_edge, land_of(registry, slot), bytes);
  if (on_land != 0) return on_land;
  task.land_edge.store(land_of(registry, slot).end, std::memory_order_relaxed);
  return claim_below(task.land_edge, land_of(registry, slot), bytes);
}

void advise_own(const Registry& registry, std::size_t slot, int advice) {
  advise_range(home_of(registry, slot), advice);
  advise_range(land_of(registry, slot), advice);
}

void advise_others(const Registry& registry, std::size_t slot, int advice) {
  const Territory home = home_of(registry, slot);
  const Territory land = land_of(registry, slot);
  advise_range({home_of(registry, 0).begin, home.begin}, advice);
  advise_range({home.end, home_of(registry, kMostTasks).begin}, advice);
  advise_range({land_of(registry, 0).begin, land.begin}, advice);
  advise_range({land.end, land_of(registry, kMostTasks).begin}, advice);
}

bool take_turn(std::atomic<std::uint32_t>& holder, pid_t self) {
  bool was_left = false;
  for (;;) {
    std::uint32_t present = 0;
    const auto own = static_cast<std::uint32_t>(self);
    if (holder.compare_exchange_strong(present, own, std::memory_order_acquire)) return was_left;
    if (kill(static_cast<pid_t>(present), 0) != 0 && errno == ESRCH) {
      was_left = holder.compare_exchange_strong(present, own, std::memory_order_acquire);
      if (was_left) return true;
    } else {
      futex_wait(holder, present, kLook);
    }
  }
}

void end_turn(std::atomic<std::uint32_t>& holder) {
  holder.store(0, std::memory_order_release);
  futex_wake(holder, 1);
}

}  // namespace urakata::space
