// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/prepare.hpp"

#include <algorithm>
#include <climits>
#include <memory>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "base/options/options.hpp"
#include "collectives/schedule_table.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/kernel/kernel_operations.hpp"
#include "shim/process/allocation_count.hpp"
#include "shim/sites/between_sites.hpp"
#include "tune/decision.hpp"

namespace urakata::shim {

namespace {

// Bytes of a segment for algorithms whose ranks send nothing but their inputs, so that messages are not cut: a sender
// of several segments would wait for the receiver's reductions.
constexpr std::uint64_t kUncut = std::uint64_t{1} << 40U;

const collectives::Algorithm* inputs_only(collectives::Operation operation) {
  const auto all = collectives::algorithms(operation);
  return &*std::ranges::find_if(all, &collectives::Algorithm::inputs_only);
}

// Whether the elements are more than an operation of MPI_Op_create can be called with at once. MPICH and Intel MPI end
// the job then (MPICH 5.0 by an assertion in reduce_local.c), so our algorithm is the only way, not the slower one.
// (Operations of MPI_Op_create_c are not told apart: for these it takes memory that the MPI library would not need.)
bool beyond_an_int(const Key& key) { return key.element != 0 && key.bytes / key.element > INT_MAX; }

// Most bytes of schedules that are kept for other communicators: about a thousand of small operations of a few ranks.
constexpr std::size_t kSharedBytes = 1024UL * 1024;

Result<std::shared_ptr<const schedule::Schedule>> build(const collectives::Algorithm& algorithm,
                                                        const collectives::Arguments& arguments) {
  static auto* shared = new collectives::ScheduleTable(kSharedBytes);
  if (auto found = shared->find(algorithm, arguments)) return found;
  count_allocation();
  auto built = algorithm.build(arguments);
  if (!built.ok()) return built.error();
  return shared->keep(algorithm, arguments, std::move(*built));
}

Prepared* keep(const Reading& reading, Communicator& comm, std::shared_ptr<const schedule::Schedule> schedule,
               std::string_view algorithm, std::string_view why, std::vector<Streams> streams) {
  auto made = std::make_unique<Prepared>();
  made->key = reading.key;
  made->blocks.assign(reading.blocks.begin(), reading.blocks.end());
  made->schedule = std::move(schedule);
  made->algorithm = algorithm;
  made->why = why;
  made->streams = std::move(streams);
  return comm.keep(std::move(made));
}

}  // namespace

Prepared* prepare(const Reading& reading, Communicator& comm) {
  const Key& key = reading.key;
  if (key.inputs_only && !tune::inputs_only_pays(key.bytes, comm.ranks) && !beyond_an_int(key)) return nullptr;
  count_allocation();
  tune::Choice choice =
      tune::choose(key.operation, key.bytes, comm.ranks, key.commutative, comm.medium(), comm.ranks_per_node);
  std::string_view why = choice.why;
  collectives::Arguments given = arguments_of(reading, comm);
  given.segment = options().segment != 0 ? options().segment : choice.segment;
  given.in_turn = tune::receives_in_turn(comm.medium());
  const collectives::Algorithm* algorithm = nullptr;
  std::vector<Streams> streams;
  bool bare = false;
  const std::string_view wish = options().algorithm_for(collectives::name(key.operation), &bare);
  if (comm.placement() != nullptr && wish.empty() && !key.inputs_only) {
    BetweenSites between = between_sites(key.operation, given, *comm.placement());
    if (between.schedule != nullptr) {
      return keep(reading, comm, between.schedule, between.name, between.why, std::move(between.streams));
    }
    streams = std::move(between.streams);
    if (!between.algorithm.empty()) {
      choice = {.algorithm = between.algorithm, .segment = 0, .why = between.why};
      given.segment = options().segment;
      why = choice.why;
    }
  }
  if (!wish.empty()) {
    const auto forced = collectives::algorithm_named(key.operation, wish);
    if (forced.ok() && (key.commutative || !(*forced)->commutative_only)) {
      algorithm = *forced;
      why = "asked for";
      if (options().segment == 0) given.segment = tune::segment_of(comm.medium());
    }
  }
  if (key.inputs_only) {
    algorithm = inputs_only(key.operation);
    why = "a user's function: no rank reduces for others";
    given.segment = kUncut;
  }
  if (algorithm == nullptr) {
    const auto chosen = collectives::algorithm_named(key.operation, choice.algorithm);
    algorithm = chosen.ok() ? *chosen : &collectives::algorithms(key.operation).front();
  }
  const collectives::Algorithm* const by_kernel =
      comm.has_kernel_part() ? chainable(key.operation, *algorithm, given) : nullptr;
  if (by_kernel != nullptr && by_kernel != algorithm) {
    algorithm = by_kernel;
    why = "the first that the kernel can run";
  }
  auto schedule = build(*algorithm, given);
  if (!schedule.ok()) {  // this algorithm does not suit the arguments; the first one suits all
    why = "the algorithm asked for does not suit these arguments";
    algorithm = &collectives::algorithms(key.operation).front();
    schedule = build(*algorithm, given);
  }
  if (!schedule.ok()) {
    log::warning("%s; the MPI library does it", schedule.error().message.c_str());
    return nullptr;
  }
  auto made = std::make_unique<Prepared>();
  if (by_kernel != nullptr) {
    auto chains = chained(key.operation, *by_kernel, **schedule);
    if (!chains.ok()) {  // a defect, excluded by tests/chain: chainable() has told all ranks that it can be compiled
      log::error("engine kernel: %s", chains.error().message.c_str());
      return nullptr;
    }
    made->chained = std::move(*chains);
  }
  made->key = key;
  made->blocks.assign(reading.blocks.begin(), reading.blocks.end());
  made->schedule = std::move(*schedule);
  made->algorithm = algorithm->name;
  made->why = why;
  made->streams = std::move(streams);
  return comm.keep(std::move(made));
}

}  // namespace urakata::shim
