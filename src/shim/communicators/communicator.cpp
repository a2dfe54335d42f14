// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/communicator.hpp"

#include <algorithm>
#include <functional>
#include <mutex>

#include "base/handle_map.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/waiting.hpp"
#include "shim/communicators/communicator_origin.hpp"
#include "shim/native/native_bootstrap.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/private_comms.hpp"
#include "shim/native/world_ranks.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/process/process_state.hpp"
#include "shim/progress/progress.hpp"
#include "shim/sites/between_sites.hpp"

namespace urakata::shim {

namespace {

constexpr std::size_t kMostPrepared = 64;  // schedules kept per communicator

HandleMap<MPI_Comm, Communicator>& communicators() {
  static auto* map = new HandleMap<MPI_Comm, Communicator>;
  return *map;
}

}  // namespace

Communicator::Communicator(MPI_Comm handle, std::vector<std::int32_t> world_ranks, std::uint32_t own_rank,
                           job::MemberContexts numbers, std::shared_ptr<job::ChildContexts> children,
                           KernelPartHolder kernel_part, std::unique_ptr<direct::Collectives> direct_collectives)
    : handle_(handle),
      numbers_(std::move(numbers)),
      children_(std::move(children)),
      direct_(std::move(direct_collectives)) {
  world = std::move(world_ranks);
  rank = own_rank;
  ranks = static_cast<std::uint32_t>(world.size());
  one_node = job_setup().job().same_node(world);
  all_remote = job_setup().job().nodes_apart(world);
  ranks_per_node = job_setup().job().ranks_per_node(world);
  by_wire_ = job_setup().transports().covers(world);
  if (job_setup().sites().count > 1) {
    for (const std::int32_t member : world) {
      sites.push_back(job_setup().sites().of[static_cast<std::size_t>(member)]);
    }
    if (std::ranges::adjacent_find(sites, std::not_equal_to{}) == sites.end()) sites.clear();
  }
  if (!sites.empty()) {
    std::vector<std::int32_t> nodes;
    for (const std::int32_t member : world)
      nodes.push_back(job_setup().job().nodes()[static_cast<std::size_t>(member)]);
    placement_ = placement_at_sites(sites, nodes);
  }
  contexts.reserve(world.size());
  if (!numbers_.known()) return;  // the kernel part of another communicator
  for (const std::int32_t member : world) contexts.push_back(numbers_.context_of(member));
  context = contexts[rank];
  if (kernel_part == nullptr) return;
  chained_.reset(new Communicator(handle_, world, rank, job::MemberContexts(), children_));
  chained_->owner_ = this;
  chained_->kernel_part_ = std::move(kernel_part);
  chained_->engine = job_setup().engines().named("kernel");
  for (const std::int32_t number : contexts) chained_->contexts.push_back(number + kKernelContexts);
  chained_->context = context + kKernelContexts;
}

Communicator* Communicator::sibling() {
  job::MemberContexts numbers = next_contexts(handle_, *children_);
  if (!numbers.has_context()) return nullptr;
  auto* made = new Communicator(handle_, world, rank, std::move(numbers), children_);
  made->engine = engine;
  retain();
  made->origin_ = this;
  return made;
}

Communicator::~Communicator() {
  if (broken() && numbers_.known()) numbers_.retire();  // see transport/failures.hpp
  if (origin_ != nullptr) origin_->release();
  forget_error_handler(handler_);
}

ErrorTarget Communicator::error_target() const {
  const Communicator& named = origin_ != nullptr ? *origin_ : *owner_;  // the one that the handle stands for
  if (!named.freed_.load(std::memory_order_acquire)) return {handle_};
  return {MPI_COMM_NULL, true, named.handler_};
}

void Communicator::before_free() {
  if (users_.load(std::memory_order_acquire) == 1) return;
  forget_error_handler(handler_);  // of an earlier MPI_Comm_free that the MPI library has refused
  handler_ = keep_error_handler(handle_);
}

void Communicator::close() {
  freed_.store(true, std::memory_order_release);
  release();
}

tune::Medium Communicator::medium() const {
  return tune::medium_of(one_node, one_node && job_setup().job().crowded(world), by_wire_);
}

const Neighbours* Communicator::neighbours() {
  std::call_once(neighbours_read_, [this] { neighbours_ = read_neighbours(handle_); });
  return neighbours_ ? &*neighbours_ : nullptr;
}

void Communicator::release() {
  if (fetch_add(owner_->users_, ~0U, std::memory_order_acq_rel) == 1) delete owner_;
}

Prepared* Communicator::cached(const Key& key, std::span<const std::uint64_t> blocks) {
  const LockGuard guard(lock_);
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
  const LockGuard guard(lock_);
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

Communicator* communicator(MPI_Comm handle) {
  if (handle == MPI_COMM_NULL) return nullptr;
  const auto found = communicators().find(handle);
  if (found.known) return found.object != nullptr && found.object->engine != nullptr ? found.object : nullptr;

  Communicator* made = nullptr;
  CommunicatorOrigin* const origin = origin_of(handle);
  if (origin != nullptr && origin->contexts.has_context()) {
    std::vector<std::int32_t> world = world_ranks(handle);
    int rank = 0;
    native.Comm_rank(handle, &rank);
    if (world.size() > 1 && job_setup().job().alike(world)) {
      engine::Engine* engine = job_setup().next_engine(world);
      made = new Communicator(handle, std::move(world), static_cast<std::uint32_t>(rank), std::move(origin->contexts),
                              origin->children, std::move(origin->kernel_part), std::move(origin->direct_collectives));
      made->engine = engine;
      the_progress->hook();
    }
  }
  communicators().insert(handle, made);
  return made;
}

int complain(const Communicator* communicator_of, int code) {
  const ErrorTarget target = communicator_of != nullptr ? communicator_of->error_target() : ErrorTarget{MPI_COMM_WORLD};
  return target.tell(code);
}

void before_forget(MPI_Comm handle) {
  if (Communicator* const known = communicators().find(handle).object) known->before_free();
}

void withdraw_communicator(MPI_Comm handle) {
  withdraw_origin(handle);
  communicators().withdraw(handle);
}

void restore_communicator(MPI_Comm handle) {
  restore_origin(handle);
  communicators().restore(handle);
}

void forget_communicator(MPI_Comm handle) {
  forget_origin(handle);
  if (Communicator* gone = communicators().erase(handle)) gone->close();
}

namespace {

enum class Wish : std::uint8_t { handled, chained, native, refused };

// What a rank makes of its own wish, before it knows the others'.
Result<Wish> own_choice(Communicator& comm, std::string_view name, engine::Engine*& engine, bool& pending) {
  if (name.empty()) {
    if (engine == nullptr) return Wish::native;
    return comm.by_kernel() != nullptr ? Wish::chained : Wish::handled;
  }
  const auto kind = engine_named(name);
  if (!kind.ok()) return kind.error();
  pending = !comm.quiet();
  if (pending) {
    return Error{"cannot change to engine " + std::string(name) +
                 " while non-blocking collectives are pending; complete them first"};
  }
  engine = *kind == EngineKind::native ? nullptr : job_setup().engines().named(name);
  if (*kind == EngineKind::native) return Wish::native;
  if (engine == nullptr) {
    return Error{"engine " + std::string(name) +
                 " is not to be had in this run: " + job_setup().engine_choice().why_not(name)};
  }
  if (*kind != EngineKind::kernel) return Wish::handled;
  if (!comm.has_kernel_part()) {
    return Error{
        "engine kernel is not to be had for this communicator: that takes 2 to 64 ranks, each on a node of its "
        "own, which reach each other by transport wire"};
  }
  engine = &job_setup().engines().best();  // for what the kernel does not run
  return Wish::chained;
}

}  // namespace

Status choose_engine(MPI_Comm handle, std::string_view name, bool* pending) {
  *pending = false;
  communicator(handle);  // makes our record of it, if it can have one
  Communicator* const comm = communicators().find(handle).object;
  if (comm == nullptr) {
    const auto kind = engine_named(name);
    if (name.empty() || (kind.ok() && *kind == EngineKind::native)) return Nothing{};
    if (!kind.ok()) return kind.error();
    return Error{
        "engine " + std::string(name) +
        " for a communicator whose collectives are the MPI library's: Urakata handles those of "
        "intracommunicators of at least two ranks of MPI_COMM_WORLD, in a run that was started with an engine"};
  }
  // Poll or thread is each rank's own affair; native or not, and kernel or not, is decided by all together.
  engine::Engine* engine = comm->engine;
  const Result<Wish> own = own_choice(*comm, name, engine, *pending);
  NativeBootstrap members(handle);
  const auto all = members.gathered(own.ok() ? *own : Wish::refused);
  if (!own.ok()) return own.error();
  if (std::ranges::find(all, Wish::refused) != all.end()) {
    return Error{"another rank of the communicator cannot change its engine; all keep theirs"};
  }
  if (all.empty() || std::ranges::adjacent_find(all, std::not_equal_to{}) != all.end()) {
    return Error{
        "engine native, or kernel, must be chosen by all ranks of the communicator, or by none; all keep theirs"};
  }
  comm->engine = engine;
  comm->want_kernel(*own == Wish::chained);
  return Nothing{};
}

bool pending_on(MPI_Comm handle) {
  const auto found = communicators().find(handle);
  return found.object != nullptr && !found.object->quiet();
}

void drain(MPI_Comm handle) {
  Ladder ladder(process_state.oversubscribed);
  while (pending_on(handle)) {
    if (!the_progress->step_all()) ladder.step();
  }
}

}  // namespace urakata::shim
