#include "shim/kin.hpp"

#include <algorithm>
#include <utility>

#include "shim/circle.hpp"
#include "shim/communicator.hpp"
#include "shim/handle_map.hpp"
#include "shim/host.hpp"
#include "shim/host_bootstrap.hpp"
#include "shim/process.hpp"

namespace urakata::shim {

namespace {

HandleMap<MPI_Comm, Kin>& registry() {
  static auto* map = new HandleMap<MPI_Comm, Kin>;
  return *map;
}

job::Contexts& contexts() {
  static auto* all = new job::Contexts;
  return *all;
}

std::shared_ptr<job::Family> new_family() { return std::make_shared<job::Family>(contexts(), process().world_rank()); }

bool carries() { return process().running() && !process().host_only(); }

void add(MPI_Comm made, job::Place place) {
  open_circle(made, place);
  registry().insert(made, new Kin{std::move(place), new_family()});
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): held by the registry

}  // namespace

void open_world_kin(std::int32_t limit) {
  const std::int32_t fixed = std::clamp(limit / 4, 1, job::Family::kFixed);
  contexts().reset(limit, fixed);
  auto family = new_family();
  family->fix(fixed);
  job::Place own = family->next();
  registry().insert(MPI_COMM_WORLD, new Kin{std::move(own), std::move(family)});
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): held by the registry

job::Place next_place(MPI_Comm handle, job::Family& family) {
  if (family.used_up()) {
    HostBootstrap members(handle);
    if (!family.refill(members)) return {};
  }
  return family.next();
}

void note_child(MPI_Comm parent, MPI_Comm made) {
  const Kin* const from = carries() ? kin_of(parent) : nullptr;
  if (from == nullptr) return;
  job::Place place = next_place(parent, *from->family);
  if (made != MPI_COMM_NULL && place.known()) add(made, std::move(place));
}

void note_made(MPI_Comm made) {
  if (made == MPI_COMM_NULL || !carries() || world_ranks(made).empty()) return;
  job::Place place = next_place(made, *new_family());
  if (place.known()) add(made, std::move(place));
}

Kin* kin_of(MPI_Comm handle) { return registry().find(handle).object; }

void forget_kin(MPI_Comm handle) { delete registry().erase(handle); }

}  // namespace urakata::shim
