// SPDX-License-Identifier: BSD-3-Clause
// The builders behind lanes::build() (lanes.hpp): barrier in barrier.cpp, scatter and gather in scatter.cpp, bcast and
// allgather in bcast.cpp, reduce and allreduce in allreduce.cpp. Arguments as there, but `lanes` is in lane_range() and
// arguments.segment is not 0.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "lanes/lanes.hpp"

namespace urakata::lanes {

using Built = Result<schedule::Schedule>;

Built barrier(const Arguments& arguments, const Placement& placement);
Built scatter(const Arguments& arguments, const Placement& placement, std::uint32_t lanes);
Built gather(const Arguments& arguments, const Placement& placement, std::uint32_t lanes);
Built bcast(const Arguments& arguments, const Placement& placement, std::uint32_t lanes);
Built allgather(const Arguments& arguments, const Placement& placement, std::uint32_t lanes, bool blocks_differ);
Built reduce(const Arguments& arguments, const Placement& placement, std::uint32_t lanes);
Built allreduce(const Arguments& arguments, const Placement& placement, std::uint32_t lanes);

}  // namespace urakata::lanes
