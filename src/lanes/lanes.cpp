// SPDX-License-Identifier: BSD-3-Clause
#include "lanes/lanes.hpp"

#include <algorithm>

#include "lanes/builders.hpp"

namespace urakata::lanes {

bool covers(Operation operation, bool commutative, const Placement& placement) {
  switch (operation) {
    case Operation::barrier:
    case Operation::scatter:
    case Operation::gather:
    case Operation::bcast:
    case Operation::allgather:
    case Operation::allgatherv:
      return true;
    case Operation::reduce:
    case Operation::allreduce:
      return commutative || placement.in_order();
    default:
      return false;
  }
}

std::uint64_t straight_segment(std::uint64_t block) {
  constexpr std::uint64_t kSegments = 8, kMost = 4 * kSegment;
  return std::clamp(block / kSegments / kSegment * kSegment, kSegment, kMost);
}

LaneRange lane_range(Operation operation, const Placement& placement) {
  if (operation == Operation::barrier) return {};
  const bool straight = operation == Operation::scatter || operation == Operation::gather;
  return {.least = straight ? 0U : 1U, .most = placement.most_lanes()};
}

Result<schedule::Schedule> build(Operation operation, const Arguments& given, const Placement& placement,
                                 std::uint32_t lanes) {
  Arguments arguments = given;
  const LaneRange range = lane_range(operation, placement);
  const std::uint32_t some = std::clamp(lanes, range.least, range.most);
  if (arguments.segment == 0) arguments.segment = some == 0 ? straight_segment(arguments.bytes) : kSegment;
  switch (operation) {
    case Operation::barrier:
      return barrier(arguments, placement);
    case Operation::scatter:
      return scatter(arguments, placement, some);
    case Operation::gather:
      return gather(arguments, placement, some);
    case Operation::bcast:
      return bcast(arguments, placement, some);
    case Operation::allgather:
    case Operation::allgatherv:
      return allgather(arguments, placement, some, operation == Operation::allgatherv);
    case Operation::reduce:
      return reduce(arguments, placement, some);
    case Operation::allreduce:
      return allreduce(arguments, placement, some);
    default:
      return Error{std::string(collectives::name(operation)) + " has no schedule between sites"};
  }
}

}  // namespace urakata::lanes
