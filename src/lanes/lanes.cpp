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

Result<schedule::Schedule> build(Operation operation, const Arguments& given, const Placement& placement,
                                 std::uint32_t lanes) {
  Arguments arguments = given;
  if (arguments.segment == 0) arguments.segment = kSegment;
  const std::uint32_t some = std::clamp(lanes, 1U, placement.most_lanes());
  switch (operation) {
    case Operation::barrier:
      return barrier(arguments, placement);
    case Operation::scatter:
      return scatter(arguments, placement, lanes == 0 ? 0 : some);
    case Operation::gather:
      return gather(arguments, placement, lanes == 0 ? 0 : some);
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
