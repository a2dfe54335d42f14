// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/communicator_origin.hpp"

#include <algorithm>
#include <utility>

#include "base/handle_map.hpp"
#include "base/log.hpp"
#include "base/options/options.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/communicators/endpoint_comms.hpp"
#include "shim/communicators/open_direct.hpp"
#include "shim/native/native_bootstrap.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/world_ranks.hpp"
#include "shim/process/process_state.hpp"

namespace urakata::shim {

namespace {

HandleMap<MPI_Comm, CommunicatorOrigin>& origins() {
  static auto* map = new HandleMap<MPI_Comm, CommunicatorOrigin>;
  return *map;
}

job::Contexts& all_contexts() {
  static auto* all = new job::Contexts;
  return *all;
}

std::shared_ptr<job::ChildContexts> new_children() {
  return std::make_shared<job::ChildContexts>(all_contexts(), process_state.world_rank);
}

bool handles_collectives() { return process_state.running && !process_state.native_only; }

// The communicator's number in the time line: its first member's rank in MPI_COMM_WORLD, and that rank's number for the
// endpoint communicator, which is never used again.
std::uint64_t number_of(std::int32_t first, const job::MemberContexts& contexts) {
  return (static_cast<std::uint64_t>(first) + 1) << 32U | contexts.endpoint_comm_of(first);
}

void add(MPI_Comm made, job::MemberContexts contexts) {
  forget_communicator(made);  // a new communicator has no past
  const std::uint64_t number = options().timeline ? number_of(world_ranks(made).front(), contexts) : 0;
  open_endpoint_comm(made, contexts);
  KernelPartHolder kernel_part = open_channel_set(made, contexts);
  origins().insert(made, new CommunicatorOrigin{std::move(contexts), new_children(), std::move(kernel_part),
                                                open_direct(made), number});
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): owned by the registry

}  // namespace

void open_world_origin(std::int32_t limit) {
  const std::int32_t fixed = std::clamp(limit / 4, 1, job::ChildContexts::kFixed);
  all_contexts().reset(limit, fixed);
  auto children = new_children();
  children->fix(fixed);
  job::MemberContexts own = children->next();
  const std::uint64_t number = number_of(0, own);
  origins().insert(MPI_COMM_WORLD,
                   new CommunicatorOrigin{std::move(own), std::move(children), nullptr, nullptr, number});
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): owned by the registry

void open_world_channel_set() {
  CommunicatorOrigin& origin = *origin_of(MPI_COMM_WORLD);
  origin.kernel_part = open_channel_set(MPI_COMM_WORLD, origin.contexts);
  if (origin.kernel_part == nullptr) return;
  log::information("engine kernel: MPI_COMM_WORLD has a channel set%s",
                   has_offload(*origin.kernel_part) ? ", and eBPF code for small collectives" : "");
}

void open_world_direct() { origin_of(MPI_COMM_WORLD)->direct_collectives = open_direct(MPI_COMM_WORLD); }

job::MemberContexts next_contexts(MPI_Comm handle, job::ChildContexts& children) {
  if (children.used_up()) {
    NativeBootstrap members(handle);
    if (!children.refill(members)) return {};
  }
  return children.next();
}

void note_child(MPI_Comm parent, MPI_Comm made) {
  const CommunicatorOrigin* const from = handles_collectives() ? origin_of(parent) : nullptr;
  if (from == nullptr) return;
  job::MemberContexts contexts = next_contexts(parent, *from->children);
  if (made != MPI_COMM_NULL && contexts.known()) add(made, std::move(contexts));
}

void note_made(MPI_Comm made) {
  if (made == MPI_COMM_NULL || !handles_collectives() || world_ranks(made).empty()) return;
  job::MemberContexts contexts = next_contexts(made, *new_children());
  if (contexts.known()) add(made, std::move(contexts));
}

CommunicatorOrigin* origin_of(MPI_Comm handle) { return origins().find(handle).object; }

void withdraw_origin(MPI_Comm handle) { origins().withdraw(handle); }
void restore_origin(MPI_Comm handle) { origins().restore(handle); }
void forget_origin(MPI_Comm handle) { delete origins().erase(handle); }

}  // namespace urakata::shim
