#include "shim/communicator.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "base/log.hpp"
#include "base/waiting.hpp"
#include "shim/handle_map.hpp"
#include "shim/host.hpp"
#include "shim/process.hpp"

namespace urakata::shim {

namespace {

constexpr std::size_t kMostPrepared = 64;  // schedules kept per communicator

HandleMap<MPI_Comm, Communicator>& registry() {
  static auto* map = new HandleMap<MPI_Comm, Communicator>;
  return *map;
}

// Numbers for contexts, smallest first, given back when their communicator is gone.
struct Contexts {
  SpinLock lock;
  std::vector<bool> taken;

  std::int32_t take() {
    const std::lock_guard guard(lock);
    const auto it = std::find(taken.begin(), taken.end(), false);
    const auto number = static_cast<std::int32_t>(it - taken.begin());
    if (number == process().job().contexts()) {
      log::error(
          "more than %d communicators with non-blocking collectives at once: the host's tags have no room for more. "
          "Free communicators that are no longer used, or run with --engine host.",
          process().job().contexts());
      std::abort();
    }
    if (it == taken.end()) {
      taken.push_back(true);
    } else {
      *it = true;
    }
    return number;
  }
  void give(std::int32_t number) {
    const std::lock_guard guard(lock);
    taken[static_cast<std::size_t>(number)] = false;
  }
};
Contexts& contexts_of_process() {
  static auto* contexts = new Contexts;
  return *contexts;
}

// Communicators whose exchange is running: each is alive by the exchange's own hold.
struct Unsettled {
  SpinLock lock;
  std::vector<Communicator*> list;
};
Unsettled& unsettled() {
  static auto* all = new Unsettled;
  return *all;
}

}  // namespace

Communicator::Communicator(MPI_Comm handle, std::vector<std::int32_t> world_ranks, std::uint32_t own_rank)
    : Communicator(handle, std::move(world_ranks), own_rank, std::make_shared<Life>()) {}

Communicator::Communicator(MPI_Comm handle, std::vector<std::int32_t> world_ranks, std::uint32_t own_rank,
                           std::shared_ptr<Life> life)
    : handle_(handle), life_(std::move(life)) {
  life_->word.fetch_add(1, std::memory_order_relaxed);
  world = std::move(world_ranks);
  rank = own_rank;
  ranks = static_cast<std::uint32_t>(world.size());
  one_node = process().job().same_node(world);
  all_remote = process().job().nodes_apart(world);
  together = process().job().together(world);
  context = contexts_of_process().take();
  contexts.resize(world.size());
  {
    const std::lock_guard guard(unsettled().lock);
    unsettled().list.push_back(this);
  }
  error = host.Iallgather(&context, 1, MPI_INT, contexts.data(), 1, MPI_INT, handle_, &exchange_);
}

Communicator* Communicator::sibling() {
  auto* made = new Communicator(handle_, world, rank, life_);
  made->engine = engine;
  hold();
  made->origin_ = this;
  return made;
}

Communicator::~Communicator() {
  contexts_of_process().give(context);
  if (origin_ != nullptr) origin_->release();
}

bool Communicator::settle() {
  if (error == MPI_SUCCESS) {
    int flag = 0;
    error = host.Test(&exchange_, &flag, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS && flag == 0) return false;
  }
  {
    const std::lock_guard guard(unsettled().lock);
    std::erase(unsettled().list, this);
  }
  if (life_->word.fetch_sub(1, std::memory_order_acq_rel) == (Life::kFreed | 1U)) host.Comm_free(&handle_);
  release();
  return true;
}

tune::Way Communicator::way() const {
  if (one_node) return process().job().crowded(world) ? tune::Way::crowded : tune::Way::node;
  return process().wired() ? tune::Way::wire : tune::Way::host;
}

bool Communicator::orphan() { return life_->word.fetch_or(Life::kFreed, std::memory_order_acq_rel) != 0; }

void Communicator::release() {
  if (fetch_add(users_, ~0U, std::memory_order_acq_rel) == 1) delete this;
}

Prepared* Communicator::cached(const Key& key, std::span<const std::uint64_t> blocks) {
  const std::lock_guard guard(lock_);
  ++uses_;
  for (std::size_t i = 0; i < cache_.size(); ++i) {
    Prepared& entry = *cache_[i];
    if (entry.key == key && std::ranges::equal(entry.blocks, blocks)) {
      entry.last_use = uses_;
      if (i != 0) std::swap(cache_[i], cache_[i / 2]);  // what is used often drifts to the front
      return &entry;
    }
  }
  return nullptr;
}

Prepared* Communicator::keep(std::unique_ptr<Prepared> made) {
  const std::lock_guard guard(lock_);
  if (cache_.size() >= kMostPrepared) {
    auto oldest = cache_.end();
    for (auto it = cache_.begin(); it != cache_.end(); ++it) {
      if ((*it)->idle() && (oldest == cache_.end() || (*it)->last_use < (*oldest)->last_use)) oldest = it;
    }
    if (oldest != cache_.end()) cache_.erase(oldest);
  }
  made->last_use = uses_;
  cache_.push_back(std::move(made));
  return cache_.back().get();
}

std::vector<std::int32_t> world_ranks(MPI_Comm handle) {
  int size = 0;
  host.Comm_size(handle, &size);
  MPI_Group group = MPI_GROUP_NULL;
  host.Comm_group(handle, &group);
  std::vector<int> own(static_cast<std::size_t>(size));
  std::iota(own.begin(), own.end(), 0);
  std::vector<std::int32_t> world(own.size());
  host.Group_translate_ranks(group, size, own.data(), process().world_group(), world.data());
  host.Group_free(&group);
  if (std::find(world.begin(), world.end(), MPI_UNDEFINED) != world.end()) world.clear();
  return world;
}

Communicator* communicator(MPI_Comm handle) {
  if (handle == MPI_COMM_NULL) return nullptr;
  const auto found = registry().find(handle);
  if (found.known) return found.object != nullptr && found.object->engine != nullptr ? found.object : nullptr;

  int inter = 0;
  if (host.Comm_test_inter(handle, &inter) != MPI_SUCCESS) return nullptr;
  Communicator* made = nullptr;
  std::vector<std::int32_t> world = inter == 0 ? world_ranks(handle) : std::vector<std::int32_t>{};
  if (world.size() > 1 && process().job().alike(world)) {
    int rank = 0;
    host.Comm_rank(handle, &rank);
    engine::Engine* engine = process().next_engine(world);
    if (engine != nullptr) {
      made = new Communicator(handle, std::move(world), static_cast<std::uint32_t>(rank));
      made->engine = engine;
      process().hook_progress();
    }
  }
  registry().insert(handle, made);
  return made;
}

bool forget_communicator(MPI_Comm handle) {
  Communicator* gone = registry().erase(handle);
  if (gone == nullptr) return false;
  const bool later = gone->orphan();
  gone->release();
  return later;
}

Status choose_engine(MPI_Comm handle, std::string_view name) {
  auto kind = engine_named(name);
  if (!kind.ok()) return kind.error();
  Communicator* communicator_of = communicator(handle);
  if (communicator_of == nullptr) {
    const auto found = registry().find(handle);
    if (found.object == nullptr) {
      if (*kind == EngineKind::host) return Nothing{};
      return Error{
          "engine " + std::string(name) +
          " for a communicator whose collectives are the host's: Urakata carries "
          "intracommunicators of at least two ranks of MPI_COMM_WORLD, in a run that was started with an engine"};
    }
    communicator_of = found.object;
  }
  if (!communicator_of->idle()) {
    return Error{"cannot change to engine " + std::string(name) +
                 " while non-blocking collectives are pending; complete them first"};
  }
  engine::Engine* engine = *kind == EngineKind::host ? nullptr : process().engine_named(name);
  if (engine == nullptr && *kind != EngineKind::host) {
    return Error{"engine " + std::string(name) + " is not to be had in this run: " + process().why_no_engine(name)};
  }
  communicator_of->engine = engine;
  return Nothing{};
}

bool pending_on(MPI_Comm handle) {
  const auto found = registry().find(handle);
  return found.object != nullptr && !found.object->idle();
}

void drain(MPI_Comm handle) {
  Ladder ladder(process().oversubscribed());
  while (pending_on(handle)) {
    if (!process().step_all()) ladder.step();
  }
}

bool settle_one() {
  Communicator* first = nullptr;
  {
    const std::lock_guard guard(unsettled().lock);
    if (unsettled().list.empty()) return false;
    first = unsettled().list.front();
    first->hold();  // settling may end its last user
  }
  first->settled();
  first->release();
  return true;
}

MPI_Comm private_world() { return process().world(); }

}  // namespace urakata::shim
