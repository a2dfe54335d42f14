// SPDX-License-Identifier: BSD-3-Clause
// The address ranges of a rank, where its own memory is: its stack, and what its C library maps (own_mappings.hpp).
// The ranges tell which task memory belongs to, so that a fork or a core dump of one task leaves out that of the
// others. Programs and libraries are outside of these ranges. So is memory that a task maps in other ways. All of that
// is copied and dumped with every task.
//
// Each slot of the registry has two ranges. The main range has 256 MiB; the main ranges of all slots are adjacent,
// since neighbours share page tables. The overflow range has up to 64 GiB, for memory that does not fit into the main
// range. Both begin at random places, among addresses where the kernel places nothing by itself (address_layout.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "space/registry.hpp"

namespace urakata::space {

inline constexpr std::uint64_t kMainRangeBytes = std::uint64_t{256} << 20U;
inline constexpr std::uint64_t kLargestOverflowRange = std::uint64_t{64} << 30U;
inline constexpr std::uint64_t kSmallestOverflowRange = std::uint64_t{1} << 30U;

// Chooses where within `free` the registry's ranges are, and the size of an overflow range. `random`: any two numbers.
// Called by the space daemon before there are tasks. Error: `free` is too small.
Status choose_address_ranges(Registry& registry, AddressRange free, std::array<std::uint64_t, 2> random);

// Whether the kernel maps memory at the first address of the first main range and in the last page of the last overflow
// range.
bool address_ranges_can_be_mapped(const Registry& registry);

// The ranges of a slot. Slots up to kMostTasks, which is one past the last.
AddressRange main_range_of(const Registry& registry, std::size_t slot);
AddressRange overflow_range_of(const Registry& registry, std::size_t slot);

// Prepares the ranges of a slot that is used for the first time. Called by the space daemon.
void open_address_ranges(Registry& registry, std::size_t slot);

// An address to suggest to the kernel for a mapping of `bytes` (whole pages, at most half of an overflow range); 0:
// there is no room. Addresses are claimed downwards. Once the overflow range is used up, claims begin at its upper end
// again, for addresses that were unmapped meanwhile; an address may then be in use. Memory that consists of whole huge
// pages (2 MiB) begins at a multiple of a huge page, as it does where the kernel chooses. Any thread.
std::uint64_t claim(const Membership& task, std::uint64_t bytes);

// Gives the kernel this advice (MADV_*) on all mappings in the task's ranges, or in the ranges of all other slots. A
// mapping that does not take the advice (memory of devices) stays as it is. Signal handlers may call both functions.
void advise_own(const Membership& task, int advice);
void advise_others(const Membership& task, int advice);

}  // namespace urakata::space
