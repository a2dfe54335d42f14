// The part of the address space where a task's own memory is: its stack, and what its C library maps
// (own_mappings.hpp). By it a fork or a core dump of one task leaves out the memory of the others. Programs and
// libraries are outside of all territories, and so is what a task maps by other ways; that is copied and dumped with
// every task.
//
// Each slot of the registry has a home of 256 MiB, next to the others' since neighbours share page tables, and an arena
// of up to 64 GiB for what does not fit. They begin at random places within addresses where the kernel places nothing by
// itself (address_layout.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "space/registry.hpp"

namespace urakata::space {

inline constexpr std::uint64_t kHomeBytes = std::uint64_t{256} << 20U;
inline constexpr std::uint64_t kLargestArena = std::uint64_t{64} << 30U;
inline constexpr std::uint64_t kSmallestArena = std::uint64_t{1} << 30U;

// Chooses where within `free` the registry's territories are, and how large arenas are. `random`: any two numbers. To be
// called by the daemon, before there are tasks. Error: `free` has not enough addresses.
Status choose_territories(Registry& registry, AddressRange free, std::array<std::uint64_t, 2> random);

// Whether the kernel maps memory at the first and at the last of these addresses when it is asked to.
bool territories_can_be_mapped(const Registry& registry);

AddressRange home_of(const Registry& registry, std::size_t slot);
AddressRange arena_of(const Registry& registry, std::size_t slot);

// Makes the territory of a slot that is used for the first time: before, it costs no memory. By the daemon.
void open_territory(Registry& registry, std::size_t slot);

// An address to suggest to the kernel for a mapping of so many bytes (whole pages, at most half of an arena), below
// what is in use. When the arena has been used up, what was unmapped there since is used again. As the kernel does by
// itself, memory that huge pages would fill begins where one may. Any thread.
std::uint64_t claim(const Membership& task, std::uint64_t bytes);

// Gives the kernel this advice (MADV_*) on all that is mapped in the task's home and arena, or in all others'. What
// does not take it (memory of devices) is left as it is. Signal handlers may call it.
void advise_own(const Membership& task, int advice);
void advise_others(const Membership& task, int advice);

}  // namespace urakata::space
