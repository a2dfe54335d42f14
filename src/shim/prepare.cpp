#include "shim/prepare.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "base/options.hpp"
#include "collectives/schedule_table.hpp"
#include "tune/decision.hpp"

namespace urakata::shim {

namespace {

// Of an algorithm whose ranks send nothing but their inputs: a ring of segments would have senders wait for reductions.
constexpr std::uint64_t kUncut = std::uint64_t{1} << 40U;

const collectives::Algorithm* inputs_only(collectives::Operation operation) {
  const auto all = collectives::algorithms(operation);
  return &*std::ranges::find_if(all, &collectives::Algorithm::inputs_only);
}

// Of small operations of a few ranks these are a thousand.
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

}  // namespace

Prepared* prepare(const Reading& reading, Communicator& comm) {
  const Key& key = reading.key;
  if (key.inputs_only && !tune::inputs_only_pays(key.bytes, comm.ranks)) return nullptr;
  count_allocation();
  const auto choice =
      tune::choose(key.operation, key.bytes, comm.ranks, key.commutative, comm.medium(), comm.ranks_per_node);
  std::string_view why = choice.why;
  collectives::Arguments given = arguments_of(reading, comm);
  given.segment = options().segment != 0 ? options().segment : choice.segment;
  given.in_turn = tune::receives_in_turn(comm.medium());
  const collectives::Algorithm* algorithm = nullptr;
  bool bare = false;
  const std::string_view wish = options().algorithm_for(collectives::name(key.operation), &bare);
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
  auto schedule = build(*algorithm, given);
  if (!schedule.ok()) {  // this algorithm does not suit the arguments; the first one suits all
    why = "the algorithm asked for does not suit these arguments";
    algorithm = &collectives::algorithms(key.operation).front();
    schedule = build(*algorithm, given);
  }
  if (!schedule.ok()) {
    log::warning("%s; the host does it", schedule.error().message.c_str());
    return nullptr;
  }
  auto made = std::make_unique<Prepared>();
  made->key = key;
  made->blocks.assign(reading.blocks.begin(), reading.blocks.end());
  made->schedule = std::move(*schedule);
  made->algorithm = algorithm->name;
  made->why = why;
  return comm.keep(std::move(made));
}

}  // namespace urakata::shim
