// SPDX-License-Identifier: BSD-3-Clause
// Collectives that chains of io_uring requests run.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/log.hpp"
#include "chain/chained_schedule.hpp"
#include "chain/compile.hpp"
#include "engine/kernel.hpp"
#include "shim/kernel/kernel_operations.hpp"

namespace urakata::shim {

namespace {

using collectives::Algorithm;
using collectives::Arguments;
using collectives::Operation;

// Operations that compute nothing, and in which each rank knows all ranks' messages from its own arguments.
constexpr std::array kOperations = {Operation::bcast, Operation::allgather, Operation::alltoall};

// Whether messages run down a tree, so that each rank receives from its parent only.
bool runs_downhill(Operation operation, const Algorithm& algorithm) {
  return operation == Operation::bcast && algorithm.name != std::string_view("scatter_allgather");
}

bool all_ranks_can(const Algorithm& algorithm, Arguments arguments) {
  for (arguments.rank = 0; arguments.rank < arguments.ranks; ++arguments.rank) {
    const auto schedule = algorithm.build(arguments);
    if (!schedule.ok()) return false;
    if (const auto most = chain::most_entries(*schedule); !most.ok()) {
      log::detail("engine kernel: rank %u's %s", arguments.rank, most.error().message.c_str());
      return false;
    }
  }
  return true;
}

}  // namespace

const Algorithm* chainable(Operation operation, const Algorithm& chosen, const Arguments& arguments) {
  if (arguments.bytes == 0 || std::ranges::find(kOperations, operation) == kOperations.end()) return nullptr;
  if (all_ranks_can(chosen, arguments)) return &chosen;
  const auto all = collectives::algorithms(operation);
  const auto other = std::ranges::find_if(all, [&](const Algorithm& one) { return all_ranks_can(one, arguments); });
  return other != all.end() ? &*other : nullptr;
}

Result<std::shared_ptr<const chain::ChainedSchedule>> chained(Operation operation, const Algorithm& algorithm,
                                                              const schedule::Schedule& schedule) {
  auto made = chain::compile(schedule, {.downhill = runs_downhill(operation, algorithm)});
  if (!made.ok()) return made.error();
  return std::make_shared<const chain::ChainedSchedule>(std::move(*made));
}

void execute_by_chain(const engine::KernelPart& part, const chain::ChainedSchedule& schedule,
                      engine::Instance& instance, KernelRun& run) {
  run.chained = {*part.channel_set, schedule};
  instance.executor = &run.chained;
}

}  // namespace urakata::shim
