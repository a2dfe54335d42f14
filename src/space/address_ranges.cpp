// SPDX-License-Identifier: BSD-3-Clause
#include "space/address_ranges.hpp"

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

// Gives the advice for each mapping separately. If the advice is for a whole range, the kernel stops at the first
// mapping that does not take it (a device's memory that is to be copied).
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

// Lowers the edge by `bytes` or a little more, and returns the new edge; 0: there is no room left.
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

Status choose_address_ranges(Registry& registry, AddressRange free, std::array<std::uint64_t, 2> random) {
  constexpr std::uint64_t kAllMainRanges = kMostTasks * kMainRangeBytes;
  const std::uint64_t begin = (free.begin + kHugePage - 1) & ~(kHugePage - 1);
  const std::uint64_t bytes = free.end > begin ? free.end - begin : 0;
  // A sixteenth stays free for random offsets, so that nobody can guess the addresses.
  const std::uint64_t for_overflow = bytes / 16 * 15 > kAllMainRanges ? bytes / 16 * 15 - kAllMainRanges : 0;
  registry.overflow_range_bytes =
      std::min(for_overflow / kMostTasks & ~(kSmallestOverflowRange - 1), kLargestOverflowRange);
  if (registry.overflow_range_bytes == 0) {
    return Error{"the largest free range of addresses has " + std::to_string(bytes >> 30U) +
                 " GiB, and a space needs 1400 GiB"};
  }
  const std::uint64_t slack = (bytes - kAllMainRanges - kMostTasks * registry.overflow_range_bytes) / kHugePage;
  registry.main_ranges = begin + random[0] % (slack / 4) * kHugePage;
  registry.overflow_ranges = registry.main_ranges + kAllMainRanges + random[1] % (slack / 2) * kHugePage;
  return Nothing{};
}

bool address_ranges_can_be_mapped(const Registry& registry) {
  constexpr std::uint64_t kPage = 4096;
  for (const std::uint64_t address : {registry.main_ranges, overflow_range_of(registry, kMostTasks - 1).end - kPage}) {
    void* const wanted = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
    void* const got = mmap(wanted, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) return false;
    munmap(got, kPage);
    if (got != wanted) return false;
  }
  return true;
}

void open_address_ranges(Registry& registry, std::size_t slot) {
  registry.tasks[slot].main_edge.store(main_range_of(registry, slot).end, std::memory_order_relaxed);
  registry.tasks[slot].overflow_edge.store(overflow_range_of(registry, slot).end, std::memory_order_relaxed);
}

AddressRange main_range_of(const Registry& registry, std::size_t slot) {
  const std::uint64_t begin = registry.main_ranges + slot * kMainRangeBytes;
  return {begin, begin + kMainRangeBytes};
}

AddressRange overflow_range_of(const Registry& registry, std::size_t slot) {
  const std::uint64_t begin = registry.overflow_ranges + slot * registry.overflow_range_bytes;
  return {begin, begin + registry.overflow_range_bytes};
}

std::uint64_t claim(const Membership& task, std::uint64_t bytes) {
  TaskRecord& record = task.registry->tasks[task.slot];
  const AddressRange overflow_range = overflow_range_of(*task.registry, task.slot);
  const std::uint64_t in_main = claim_below(record.main_edge, main_range_of(*task.registry, task.slot), bytes);
  if (in_main != 0) return in_main;
  const std::uint64_t in_overflow = claim_below(record.overflow_edge, overflow_range, bytes);
  if (in_overflow != 0) return in_overflow;
  record.overflow_edge.store(overflow_range.end, std::memory_order_relaxed);
  return claim_below(record.overflow_edge, overflow_range, bytes);
}

void advise_own(const Membership& task, int advice) {
  advise_range(main_range_of(*task.registry, task.slot), advice);
  advise_range(overflow_range_of(*task.registry, task.slot), advice);
}

void advise_others(const Membership& task, int advice) {
  for (const auto range_of : {&main_range_of, &overflow_range_of}) {
    const AddressRange own = range_of(*task.registry, task.slot);
    advise_range({range_of(*task.registry, 0).begin, own.begin}, advice);
    advise_range({own.end, range_of(*task.registry, kMostTasks).begin}, advice);
  }
}

}  // namespace urakata::space
