// SPDX-License-Identifier: BSD-3-Clause
#include "space/address_layout.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "base/system_error.hpp"
#include "space/maps.hpp"

namespace urakata::space {
namespace {

// Larger than any hole that the loader has left between two libraries.
constexpr std::uint64_t kProbe = std::uint64_t{4} << 30U;
constexpr std::uint64_t kMargin = std::uint64_t{64} << 30U;
constexpr std::uint64_t kPartsOfAll = 8;  // equal parts of all addresses: one is the kernel's, the lowest is not used
// First address of the kernel's own half, on all 64-bit processors.
constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63U;

std::uint64_t size_of(AddressRange range) { return range.end > range.begin ? range.end - range.begin : 0; }

// Takes `bytes` in total out of the gaps at and beyond layout.next, in the direction in which the kernel places
// mappings.
void keep_for_kernel(std::vector<AddressRange>& gaps, const AddressLayout& layout, std::uint64_t bytes) {
  const auto take = [&](AddressRange gap) {
    const std::uint64_t taken = std::min(bytes, size_of(gap));
    bytes -= taken;
    return taken;
  };
  if (layout.upward) {
    for (AddressRange& gap : gaps) {
      if (gap.end > layout.next) gap.begin += take(gap);
    }
    return;
  }
  std::ranges::for_each(gaps.rbegin(), gaps.rend(), [&](AddressRange& gap) {
    if (gap.begin <= layout.next) gap.end -= take(gap);
  });
}

}  // namespace

Result<AddressLayout> own_address_layout() {
  AddressLayout layout;
  ProcLines lines("/proc/self/maps");
  while (const auto line = lines.next()) {
    const auto mapping = maps_line(*line);
    if (mapping && mapping->begin < kKernelHalf) layout.mapped.push_back({mapping->begin, mapping->end});
  }
  if (layout.mapped.empty()) return Error{"cannot read which addresses are in use (/proc/self/maps)"};
  const auto probe = [] {
    return mmap(nullptr, kProbe, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  void* const first = probe();
  void* const second = probe();
  Error failure = system_error("asking the kernel where it places mappings");
  if (first != MAP_FAILED) munmap(first, kProbe);
  if (second != MAP_FAILED) munmap(second, kProbe);
  if (first == MAP_FAILED || second == MAP_FAILED) return failure;
  layout.next = reinterpret_cast<std::uint64_t>(first);
  layout.upward = reinterpret_cast<std::uint64_t>(second) > layout.next;
  return layout;
}

AddressRange range_left_free(const AddressLayout& layout) {
  const std::uint64_t all = std::bit_ceil(layout.mapped.back().end);
  std::vector<AddressRange> gaps;
  std::uint64_t begin = 0;
  for (const AddressRange& one : layout.mapped) {
    gaps.push_back({begin, one.begin});
    begin = one.end;
  }
  // Above the last mapping, the process's stack, there is nothing.
  keep_for_kernel(gaps, layout, all / kPartsOfAll);
  AddressRange largest{0, 0};
  for (AddressRange gap : gaps) {
    gap = {std::max(gap.begin + kMargin, all / kPartsOfAll), gap.end - std::min(gap.end, kMargin)};
    if (size_of(gap) > size_of(largest)) largest = gap;
  }
  return largest;
}

}  // namespace urakata::space
