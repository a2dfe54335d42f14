// SPDX-License-Identifier: BSD-3-Clause
// The builders behind the table of collectives.cpp, one namespace per operation. Each makes one rank's schedule.
#pragma once

#include "base/result.hpp"
#include "collectives/collectives.hpp"
#include "schedule/schedule.hpp"

namespace urakata::collectives {

using Built = Result<schedule::Schedule>;

namespace barrier {
Built dissemination(const Arguments& arguments);
}
namespace bcast {
Built binomial(const Arguments& arguments);
Built knomial(const Arguments& arguments);
Built chain(const Arguments& arguments);
Built scatter_allgather(const Arguments& arguments);
}  // namespace bcast
namespace gather {
Built binomial(const Arguments& arguments);
Built linear(const Arguments& arguments);
}  // namespace gather
namespace gatherv {
Built linear(const Arguments& arguments);
}
namespace scatter {
Built binomial(const Arguments& arguments);
Built linear(const Arguments& arguments);
}  // namespace scatter
namespace scatterv {
Built linear(const Arguments& arguments);
}
namespace allgather {
Built ring(const Arguments& arguments);
Built recursive_doubling(const Arguments& arguments);
Built bruck(const Arguments& arguments);
Built neighbour_exchange(const Arguments& arguments);
Built spread(const Arguments& arguments);
}  // namespace allgather
namespace allgatherv {
Built ring(const Arguments& arguments);
Built bruck(const Arguments& arguments);
Built spread(const Arguments& arguments);
}  // namespace allgatherv
namespace alltoall {
Built pairwise(const Arguments& arguments);
Built bruck(const Arguments& arguments);
Built spread(const Arguments& arguments);
}  // namespace alltoall
namespace alltoallv {
Built pairwise(const Arguments& arguments);
Built spread(const Arguments& arguments);
}  // namespace alltoallv
namespace neighbor_alltoallv {
Built spread(const Arguments& arguments);
}
namespace reduce {
Built binomial(const Arguments& arguments);
Built chain(const Arguments& arguments);
Built rabenseifner(const Arguments& arguments);
Built linear(const Arguments& arguments);
}  // namespace reduce
namespace allreduce {
Built recursive_doubling(const Arguments& arguments);
Built rabenseifner(const Arguments& arguments);
Built ring(const Arguments& arguments);
Built spread(const Arguments& arguments);
Built reduce_bcast(const Arguments& arguments);
}  // namespace allreduce
namespace reduce_scatter {
Built pairwise(const Arguments& arguments);
Built recursive_halving(const Arguments& arguments);
Built ring(const Arguments& arguments);
Built reduce_scatterv(const Arguments& arguments);
}  // namespace reduce_scatter
namespace reduce_scatter_block {
Built pairwise(const Arguments& arguments);
Built recursive_halving(const Arguments& arguments);
Built ring(const Arguments& arguments);
Built reduce_scatterv(const Arguments& arguments);
}  // namespace reduce_scatter_block
namespace scan {
Built recursive_doubling(const Arguments& arguments);
Built chain(const Arguments& arguments);
Built spread(const Arguments& arguments);
}  // namespace scan
namespace exscan {
Built recursive_doubling(const Arguments& arguments);
Built chain(const Arguments& arguments);
Built spread(const Arguments& arguments);
}  // namespace exscan

// Bytes of a segment of pipelined algorithms if Arguments::segment is 0: of messages only passed on, and of reductions.
inline constexpr std::uint64_t kPipelineSegment = 64 * 1024;
inline constexpr std::uint64_t kReductionSegment = 64 * 1024;

}  // namespace urakata::collectives
