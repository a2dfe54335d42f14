// SPDX-License-Identifier: BSD-3-Clause
#include "shim/lifecycle/process.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "base/launcher.hpp"
#include "base/log.hpp"
#include "base/node_warnings.hpp"
#include "base/options/options.hpp"
#include "base/progress_thread.hpp"
#include "base/reserve.hpp"
#include "base/threads.hpp"
#include "base/waiting.hpp"
#include "engine/kernel_engine.hpp"
#include "job/shared_lines.hpp"
#include "observe/observer.hpp"
#include "shim/collectives/channel_exchange.hpp"
#include "shim/collectives/native_messages.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/communicators/communicator_origin.hpp"
#include "shim/completion/left_behind.hpp"
#include "shim/kernel/channel_sets.hpp"
#include "shim/lifecycle/finalize_callback.hpp"
#include "shim/lifecycle/other_launcher.hpp"
#include "shim/lifecycle/refusal.hpp"
#include "shim/lifecycle/space_entry.hpp"
#include "shim/messages/wire_messages.hpp"
#include "shim/native/left_handles.hpp"
#include "shim/native/native_bootstrap.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/private_comms.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/space.hpp"
#include "shim/requests/staging.hpp"
#include "shim/sites/between_sites.hpp"
#include "shim/types/datatype.hpp"
#include "space/heap.hpp"
#include "space/own_mappings.hpp"
#include "space/registry.hpp"
#include "transport/nothing.hpp"
#include "transport/route.hpp"
#include "transport/stripes/width.hpp"
#include "tune/costs.hpp"
#include "tune/link_choice.hpp"

namespace urakata::shim {

namespace {

static_assert(tune::ProgressThreadCosts{}.gap == engine::kLongGap, "the same default");

// Whether this rank was spawned (MPI_Comm_spawn). Such ranks write no report: its files would have the names of those
// of the first ranks.
bool was_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  native.Comm_get_parent(&parent);
  return parent != MPI_COMM_NULL;
}

// Open MPI, told that there are more ranks than cores, yields in every poll that finds nothing. That is right for a
// rank that waits, but a progress thread that yields to a computing thread gets the core back only when that one's turn
// is over: some milliseconds later. The progress thread polls a few times and then sleeps anyway, so it does not yield.
void around_progress_test(bool begins) {
  static bool before = false;  // there is one progress thread (make_engines)
  if (begins) {
    before = native.set_yield_when_idle(false);
  } else {
    native.set_yield_when_idle(before);
  }
}

void progress_thread_progressed(std::uint64_t begin, std::uint64_t end) {
  if (observe::Observer* observer = process_state.observer) {
    if (observe::Track* track = observer->progress_thread(0)) track->add(begin, end);
  }
}

// Makes a progress domain. `native_too`: whether its owners may call the MPI library.
std::unique_ptr<engine::Domain> make_domain(transport::Failures& failures, transport::Wire* wire,
                                            transport::Stripes* stripes, bool native_too) {
  std::unique_ptr<transport::Transport> transport;
  if (native_too) {
    transport = std::make_unique<transport::NativeTransport<NativeMessages>>(failures, options().peer_timeout_ns());
  } else {
    transport = std::make_unique<transport::NoTransport>(failures);
  }
  if (wire != nullptr) {
    transport = std::make_unique<transport::Route>(std::move(transport), *wire, stripes, ranks_at_other_sites());
  }
  return std::make_unique<engine::Domain>(std::move(transport));
}

// What the launcher, the CPU masks and the MPI library tell before MPI_Init.
tune::RunFacts run_facts() {
  const Launcher started = launcher();
  const Options& wish = options();
  tune::RunFacts facts{.asked = wish.engine, .hook = native.progress_register != nullptr};
  facts.one_node = started.ranks >= 1 && started.local_ranks == started.ranks;
  facts.within_node = !facts.one_node || tune::place_progress_threads(Topology::of_this_node(), ranks_of_this_node(),
                                                                      wish.placement, wish.progress_cpus)
                                             .within_node;
  const tune::TransportTerms terms = tune::transport_terms(wish.transport);
  // MPI_THREAD_MULTIPLE must be asked for now. So a network that may turn out to be better than the wire counts here.
  facts.by_wire =
      tune::counts_on_wire({.alone = started.local_ranks == 1 && started.ranks > 1,
                            .wire = terms.wire,
                            .yields = terms.better,
                            .other_network = !job::network_device().empty() || !job::unknown_controller().empty()});
  return facts;
}

}  // namespace

constinit std::atomic<Process*> the_process{nullptr};

Process& make_process() {
  static auto* the = new Process;
  the_process.store(the, std::memory_order_release);
  return *the;
}

// The values of null handles are the MPI library's, and not known when this library is loaded.
Process::Process() {
  private_comms.world = private_comms.self = MPI_COMM_NULL;
  private_comms.world_group = MPI_GROUP_NULL;
  the_progress = &progress_;
  the_job_setup = this;
}

int Process::initialise(int* argc, char*** argv, int required, int* provided) {
  const Options& wish = options();
  const Launcher started = launcher();
  log::set_verbosity(wish.verbose);
  if (std::getenv(kOriginsVariable) == nullptr) warn_of_unknown_variables();  // else urakata-exec has
  refuse_other_launcher(started);
  process_state.native_only = wish.engine == EngineKind::native;
  facts_ = run_facts();
  if (!facts_.one_node) open_before_ = job::open_files();
  const bool threads = tune::asks_for_threads(facts_);
  int got = required;
  const int code = [&] {
    const auto task = wish.space ? space::own_membership() : std::nullopt;
    const space::FreshTables fresh(task.has_value());
    const space::SharedFiles shared(task);
    return native.Init_thread(argc, argv, threads ? MPI_THREAD_MULTIPLE : required, &got);
  }();
  if (code != MPI_SUCCESS) return code;
  process_state.told_level = std::min(required, got);
  if (provided != nullptr) *provided = process_state.told_level;
  process_state.multiple = got == MPI_THREAD_MULTIPLE;
  one_at_a_time = !process_state.multiple;

  native.Comm_rank(MPI_COMM_WORLD, &process_state.world_rank);
  native.Comm_size(MPI_COMM_WORLD, &world_size_);
  refuse_rank_left_alone(started, world_size_);
  log::set_rank(process_state.world_rank);
  if (!wish.report.empty() && !was_spawned()) {
    observer_ = std::make_unique<observe::Observer>(wish.timeline, 1);
    process_state.observer = observer_.get();
  }
  process_state.measuring = std::getenv("URAKATA_MEASURE_START") != nullptr;
  process_state.native_only = !set_up();
  if (!process_state.native_only || observer_ != nullptr) {
    ends_in_callback_ = set_finalize_callback([] { process().end(); });
  }
  if (observer_) native.message_path = MessagePath::observed;
  init_ns_ = now_ns();
  process_state.running = true;
  return MPI_SUCCESS;
}

bool Process::set_up() {
  const Options& wish = options();
  reserve::set_aside();
  NativeBootstrap all(MPI_COMM_WORLD);
  if (!job_.agree(all, own_facts())) return false;
  if (job_.contexts() == 0) {
    log::warning_of_all(
        "the MPI library allows message tags up to %d only; Urakata needs 81920 and leaves all to the MPI library",
        private_comms.largest_tag);
    return false;
  }
  register_predefined();
  process_state.world_rank = static_cast<std::int32_t>(all.rank());
  open_world_origin(job_.contexts());
  NodeRanks node_ranks = ranks_of_this_node();
  const std::int32_t leader = make_communicators();
  NativeBootstrap world(private_comms.world);
  if (!job_.meet(world, leader, node_ranks)) return false;
  placement_ = tune::place_progress_threads(Topology::of_this_node(), node_ranks, wish.placement, wish.progress_cpus);
  process_state.oversubscribed = placement_.oversubscribed;
  if (!job_.note_crowded(world, placement_.crowded)) return false;
  const auto own = static_cast<std::int32_t>(world.rank());
  const tune::TransportTerms terms = tune::transport_terms(wish.transport);
  const std::span<const std::int32_t> nodes = job_.nodes();
  if (std::ranges::any_of(nodes, [&](std::int32_t node) { return node != nodes.front(); })) {
    better_network_ = job::better_network(job::network_device(), open_before_, job::open_files());
  }
  const bool fast = terms.better && !better_network_.empty();
  wiring_.set_up(world, nodes, job::own_wire_facts(nodes, own, terms.wire, fast), failures_, wish.peer_timeout_ns(),
                 [&](const Network& found) {
                   sites_ = meet_sites(world, found);
                   transports_ = tune::TransportChoice(found, sites_.of);
                   return transports_.peers(own);
                 });
  log::information("transport %s: %s", wiring_.wire() != nullptr ? "wire" : "native", transports_.why().c_str());
  if (!better_network_.empty()) {
    log::information("a network that the MPI library drives better than TCP: %s", better_network_.c_str());
  }
  stripes_ = open_stripes(failures_);
  choose_messages(world);
  if (facts_.asked == EngineKind::kernel) {
    if (job_.all_kernel()) {
      facts_.no_kernel = why_no_kernel(world);
    } else {
      facts_.asked = EngineKind::thread;
    }
  }
  log::withhold_node_warnings();
  make_engines();
  // The warning about the engine may have said the same.
  if (const std::string warning = transports_.warning(wish.transport);
      !warning.empty() && engine_choice_.warning.find(transports_.why()) == std::string::npos) {
    log::warning_of_all("%s", warning.c_str());
  }
  open_world_channel_set();
  // exit() without MPI_Finalize: the progress threads must be gone before the libraries are taken down. A forked child
  // has no progress threads, and may lack their memory. MPICH calls exit() on the thread that finds a fatal error. If
  // that is a progress thread, it cannot wait for itself, nor for other threads, which may wait for a lock that it
  // holds.
  static const pid_t owner = getpid();
  std::atexit([] {
    if (getpid() == owner && !on_progress_thread) process().stop_progress_threads();
  });
  enter_space(wish.space, engine_choice_.periodic);
  if (endpoint() != nullptr) {
    start_link_progress(*endpoint(), {.cpus = placement_.progress_thread,
                                      .spare = placement_.spare,
                                      .long_gap_ns = static_cast<std::uint64_t>(tune::costs().progress_thread.gap)});
  }
  if (periodic == nullptr && wire() != nullptr && engine_choice_.periodic) start_exchange_progress();
  const auto warnings = job::share_lines(world, job_.nodes(), log::withheld_node_warnings());
  for (const std::string& line : warnings.here) log::warning("%s", line.c_str());
  return true;
}

// Opens the link, if this rank is to have one.
void Process::choose_messages(job::Bootstrap& world) {
  const Options& wish = options();
  const auto own = static_cast<std::int32_t>(world.rank());
  const bool progress_thread = tune::link_has_progress_thread(facts_);
  tune::MessagesFacts facts{.asked = wish.wire_messages, .space = wish.space};
  std::vector<tune::MessagesFacts> all(world.ranks(), facts);
  if (transports_.any()) {
    facts.better = !better_network_.empty();
    facts.room = job::room_for_link(job_.nodes(), own);
    facts.moves = facts_.hook || process_state.multiple || progress_thread;
    const bool one_site = sites_.count < 2 && wish.wire_messages != MessagesWish::native;
    facts.stripes = stripes_ != nullptr || (one_site && open_link_stripes(failures_));
    facts.shares_cores = placement_.oversubscribed || native_gives_way();
    all = world.gathered(facts);
    if (all.empty()) {
      messages_choice_.why = "through the MPI library, which refuses the meeting of the ranks";
      close_link_stripes();
      return;
    }
  }
  messages_choice_ = tune::choose_messages(all, own, transports_, sites_.count);
  if (wiring_.wire() != nullptr)
    log::information("the program's messages between nodes: %s", messages_choice_.why.c_str());
  if (!messages_choice_.by_wire) return close_link_stripes();
  const bool room = job::room_for_link(job_.nodes(), own, transport::Width::kMost);
  const auto choice = tune::choose_connections(wish.connections, messages_choice_.stripes, room);
  if (!choice.why.empty()) {
    log::information("long messages go over one connection for each pair of ranks: %s", choice.why.c_str());
  }
  open_link(
      {.progress_thread = progress_thread, .stripes = messages_choice_.stripes, .connections = choice.connections});
}

// The result is the same on all ranks.
std::string Process::why_no_kernel(job::Bootstrap& world) {
  std::string obstacle = tune::kernel_obstacle(engine::why_no_kernel_engine(), placement_);
  if (obstacle.empty() && wiring_.wire() == nullptr) obstacle = "no transport wire: " + transports_.why();
  return set_up_channel_sets(world, std::move(obstacle));
}

void Process::make_engines() {
  const Options& wish = options();
  facts_.no_wire = tune::no_wire_for(why_not_by_wire(), better_network_);
  engine_choice_ = tune::choose_engines(facts_, process_state.multiple, placement_);
  NativeBootstrap world(private_comms.world);
  refuse_together(world, job_.nodes(), engine_choice_.refusal);
  if (!engine_choice_.warning.empty()) log::warning_of_node("%s", engine_choice_.warning.c_str());
  engine::ProgressThreadSettings settings;
  settings.name = "urakata/0";
  settings.spare = placement_.spare;
  settings.nap_ns = wish.nap_us * 1000;
  settings.long_gap_ns = static_cast<std::uint64_t>(tune::costs().progress_thread.gap);
  if (native.set_yield_when_idle != nullptr && process_state.multiple) settings.around_test = around_progress_test;
  settings.cpus = placement_.progress_thread;
  if (observer_ && wish.timeline) settings.progressed = progress_thread_progressed;
  if (engine_choice_.why_not(name(EngineKind::thread)).empty()) one_at_a_time = false;
  engines_.make(
      engine_choice_.usable(), engine_choice_.periodic, failures_,
      [this](bool progress_thread) {
        return make_domain(failures_, wiring_.wire(), stripes_, !progress_thread || process_state.multiple);
      },
      settings);
  progress_.open(wiring_.wire() != nullptr, private_comms.world);
}

std::string Process::why_not_by_wire() const {
  if (!transports_.any()) return transports_.why();
  const auto ranks = static_cast<std::int32_t>(job_.nodes().size());
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    if (rank != process_state.world_rank && !transports_.by_wire(process_state.world_rank, rank)) {
      return "it does not lead to rank " + std::to_string(rank);
    }
  }
  return "";
}

void Process::stop_progress_threads() {
  stop_message_progress();
  stop_channel_sets();
  for (engine::Engine* engine : engines_.all()) engine->stop();
}

// MPICH takes no locks inside MPI_Finalize, so no progress thread may call it there. In delete callbacks that only
// MPI_Finalize runs, such as Fortran's, the program's own calls progress everything.
void Process::stop_native_progress_threads() {
  if (periodic != nullptr) periodic->stop();
  for (engine::Engine* engine : engines_.all()) engine->stop();
}

int Process::finalise() {
  if (!process_state.running) return native.Finalize();
  if (!ends_in_callback_) {
    end();
    return native.Finalize();
  }
  if (process_state.multiple && native.progress_register == nullptr) {
    delete_attributes_of_self();
    stop_native_progress_threads();
  }
  const int code = finalize_with_callback();
  if (process_state.running) {  // the library has left our callback out, and allows no more calls
    process_state.running = false;
    own_endpoint = nullptr;
    stop_progress_threads();
    if (observer_) write_report();
  }
  return code;
}

void Process::end() {
  leave_space();
  native.message_path = MessagePath::native;
  process_state.running = false;
  if (!process_state.native_only) {
    // Operations whose requests were freed: other ranks need our part in them.
    Ladder ladder(process_state.oversubscribed);
    auto pending = [&] {
      return std::ranges::any_of(engines_.all(), [](engine::Engine* e) { return e->domain().unfinished(); });
    };
    while (pending()) {
      if (!progress_.step_all()) ladder.step();
    }
    settle_left_behind();
    settle_stripes([this] { progress_.step_all(); });
    judge_links();
    progress_.unhook();
    leave_channel_sets();
    stop_progress_threads();
    free_left_handles();
  }
  if (observer_) write_report();
  if (!process_state.native_only) {
    native.Group_free(&private_comms.world_group);
    // With other MPI libraries, both communicators are left to MPI_Finalize. If messages on them were never received,
    // as after a call with wrong arguments on one rank, MPICH cannot free them, and ends the job for that in
    // MPI_Finalize.
#if defined(URAKATA_ABI_OPENMPI)
    native.Comm_free(&private_comms.self);
    native.Comm_free(&private_comms.world);
#endif
  }
}

}  // namespace urakata::shim
