// SPDX-License-Identifier: BSD-3-Clause
// The process that has a slot of a table, as a number in the slot (frame.h). Other processes judge by it whether the
// slot's process still lives.
#pragma once

#include <cstdint>

namespace urakata::xdp {

// The number of the calling process, which is never 0.
std::uint64_t own_owner();

// False: that process has ended. True for every process of another pid namespace, since its pid means nothing in this
// one, and for all processes if /proc is of another pid namespace.
bool may_live(std::uint64_t owner);

}  // namespace urakata::xdp
