// The process that has a slot of a table, as a number in the slot (frame.h). Other processes judge by it whether the
// slot's process still lives.
#pragma once

#include <cstdint>

namespace urakata::xdp {

// Of the calling process: never 0.
std::uint64_t own_owner();

// False: that process has ended. A process of another pid namespace may always live, since its number means nothing
// here, and so may all where /proc is another namespace's.
bool may_live(std::uint64_t owner);

}  // namespace urakata::xdp
