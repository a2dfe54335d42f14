// SPDX-License-Identifier: BSD-3-Clause
#include "shim/native/world_ranks.hpp"

#include <algorithm>
#include <numeric>

#include "shim/native/native_library.hpp"
#include "shim/native/private_comms.hpp"

namespace urakata::shim {

std::vector<std::int32_t> world_ranks(MPI_Comm handle) {
  int size = 0;
  native.Comm_size(handle, &size);
  MPI_Group group = MPI_GROUP_NULL;
  native.Comm_group(handle, &group);
  std::vector<int> own(static_cast<std::size_t>(size));
  std::iota(own.begin(), own.end(), 0);
  std::vector<std::int32_t> world(own.size());
  MPI_Group all = private_comms.world_group;
  const bool none = all == MPI_GROUP_NULL;  // in a run that is all the MPI library's
  if (none) native.Comm_group(MPI_COMM_WORLD, &all);
  native.Group_translate_ranks(group, size, own.data(), all, world.data());
  native.Group_free(&group);
  if (none) native.Group_free(&all);
  if (std::find(world.begin(), world.end(), MPI_UNDEFINED) != world.end()) world.clear();
  return world;
}

}  // namespace urakata::shim
