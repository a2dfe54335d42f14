// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/open_direct.hpp"

#include <sched.h>

#include <algorithm>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/options/options.hpp"
#include "shim/native/native_bootstrap.hpp"
#include "shim/native/world_ranks.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/process/space.hpp"
#include "shim/progress/wait_until.hpp"

namespace urakata::shim {

namespace {

// Polls before all other progress is made, too: some microseconds, or as many turns of the threads on this core.
constexpr unsigned kPolls = 400;
constexpr unsigned kYields = 50;

// Yields before a rank that may spin spins on: the rank that it waits for may be on the same core, where the kernel puts
// both until it balances the load.
constexpr unsigned kCoreYields = 10;

void wait_for_ranks(bool (*over)(const void*), const void* state) {
  for (unsigned i = 0; i < kCoreYields && !endpoint()->backoff_settings().oversubscribed; ++i) {
    sched_yield();
    if (over(state)) return;
  }
  wait_until([&] { return over(state); });
}

direct::Waiting own_waiting() {
  const p2p::BackoffSettings& settings = endpoint()->backoff_settings();
  const bool yields = settings.oversubscribed;
  return {yields ? kYields : kPolls, settings.pauses, yields, wait_for_ranks};
}

// The ports of these ranks of MPI_COMM_WORLD; empty: not all are in this rank's space.
std::vector<p2p::Port*> ports_of(const std::vector<int>& world) {
  std::vector<p2p::Port*> ports;
  for (const int rank : world) ports.push_back(port_of(rank));
  if (std::ranges::find(ports, nullptr) != ports.end()) ports.clear();
  return ports;
}

}  // namespace

std::unique_ptr<direct::Collectives> open_direct(MPI_Comm made) {
  if (endpoint() == nullptr || options().blocking == BlockingWish::never) return nullptr;
  const std::vector<int> world = world_ranks(made);
  if (world.size() < 2 || world.size() > direct::kMostRanks || !job_setup().job().alike(world)) return nullptr;
  std::vector<p2p::Port*> ports = ports_of(world);
  if (ports.empty()) return nullptr;
  NativeBootstrap members(made);
  auto* segment =
      members.rank() == 0 ? direct::ControlSegment::make(static_cast<std::uint32_t>(world.size())) : nullptr;
  if (!members.broadcast(std::as_writable_bytes(std::span(&segment, 1)), 0) || segment == nullptr) return nullptr;
  return std::make_unique<direct::Collectives>(*segment, static_cast<std::uint32_t>(members.rank()), std::move(ports),
                                               own_waiting());
}

}  // namespace urakata::shim
