// SPDX-License-Identifier: BSD-3-Clause
// The communicators that a process makes in MPI_Init, and what it asks the MPI library for there.
#include <algorithm>
#include <cstdint>

#include "base/options/options.hpp"
#include "shim/lifecycle/process.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/private_comms.hpp"
#include "transport/group.hpp"

namespace urakata::shim {

job::Facts Process::own_facts() {
  int* most = nullptr;
  int found = 0;
  native.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  if (found != 0) private_comms.largest_tag = *most;
  job::Facts facts = job::own_facts();
  using transport::Group;
  // The largest tag is for notices. Below it, each context has a tag for answers (channel_agreement.hpp).
  std::int64_t tags = std::int64_t{private_comms.largest_tag} - Group::kMostContexts;
  if (options().tag_ub != 0) tags = std::min(tags, static_cast<std::int64_t>(options().tag_ub) + 1);
  const std::int64_t contexts = std::clamp<std::int64_t>(tags >> Group::kContextShift, 0, Group::kMostContexts);
  facts.contexts = static_cast<std::int32_t>(contexts);
  return facts;
}

std::int32_t Process::make_communicators() {
  // All but private_comms.self are made from `origin`, which is then freed. Open MPI makes a communicator with a
  // non-blocking collective on its parent. As long as a parent that had one exists, each poll checks for more.
  // MPI_COMM_WORLD would exist for good.
  native.Comm_group(MPI_COMM_WORLD, &private_comms.world_group);
  MPI_Comm origin = MPI_COMM_NULL;
  native.Comm_create_group(MPI_COMM_WORLD, private_comms.world_group, 0, &origin);  // by messages
  native.Comm_dup(origin, &private_comms.world);
  native.Comm_set_errhandler(private_comms.world, MPI_ERRORS_RETURN);
  MPI_Group own = MPI_GROUP_NULL;
  native.Comm_group(MPI_COMM_SELF, &own);
  native.Comm_create_group(MPI_COMM_SELF, own, 0, &private_comms.self);
  native.Group_free(&own);
  MPI_Comm node = MPI_COMM_NULL;
  native.Comm_split_type(origin, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  native.Comm_free(&origin);
  MPI_Group group = MPI_GROUP_NULL;
  native.Comm_group(node, &group);
  const int first = 0;
  int leader = 0;
  native.Group_translate_ranks(group, 1, &first, private_comms.world_group, &leader);
  native.Group_free(&group);
  native.Comm_free(&node);
  return leader;
}

}  // namespace urakata::shim
