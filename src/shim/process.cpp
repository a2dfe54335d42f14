#include "shim/process.hpp"

#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "base/helper_thread.hpp"
#include "base/launcher.hpp"
#include "base/log.hpp"
#include "base/options.hpp"
#include "base/threads.hpp"
#include "base/waiting.hpp"
#include "engine/poll.hpp"
#include "engine/thread.hpp"
#include "observe/report.hpp"
#include "shim/communicator.hpp"
#include "shim/datatype.hpp"
#include "shim/host.hpp"
#include "shim/host_messages.hpp"
#include "shim/mixed_receive.hpp"
#include "shim/space.hpp"
#include "shim/wire.hpp"
#include "space/heap.hpp"
#include "space/registry.hpp"
#include "transport/route.hpp"

namespace urakata::shim {

namespace {

constexpr std::uint64_t kRescueNap = 1'000'000;  // ns
constexpr std::uint64_t kCallerSleep = 500'000;  // ns; the news may be another thread's start, which no socket tells

int progress_hook() { return process().step_all() ? 1 : 0; }

// Open MPI, told that there are more ranks than cores, yields in every poll that finds nothing. That is right for a
// rank that waits, but a helper that yields to a computing thread gets the core back only when that one's turn is over:
// some milliseconds later. It polls a few times and sleeps anyway, so it does not yield.
void helper_turn(bool begins) {
  static bool before = false;  // there is one helper (make_engines)
  if (begins) {
    before = host.set_yield_when_idle(false);
  } else {
    host.set_yield_when_idle(before);
  }
}

void helper_progressed(std::uint64_t begin, std::uint64_t end) {
  if (observe::Observer* observer = process().observer()) {
    if (observe::Track* track = observer->helper(0)) track->add(observe::EventKind::progress, begin, end);
  }
}

// In a space /proc/self/cmdline and /proc/self/exe are the keeper's. The C library hands the arguments to every
// constructor, and the program's file is looked up before it may change its directory.
constinit std::span<char* const> arguments;
constinit const char* program_file = nullptr;  // nullptr: it cannot be found
[[gnu::constructor]] void note_program(int count, char** list) {
  arguments = {list, static_cast<std::size_t>(count)};
  const auto* const named = reinterpret_cast<const char*>(getauxval(AT_EXECFN));  // NOLINT(performance-no-int-to-ptr)
  program_file = realpath(space::own_space() ? named : "/proc/self/exe", nullptr);
}

std::string command_line() {
  std::string line;
  for (const char* one : arguments) line += std::string(one) + " ";
  return line;
}

std::unique_ptr<engine::Domain> make_domain(transport::Wire* wire) {
  std::unique_ptr<transport::Transport> transport = std::make_unique<transport::HostTransport<HostMessages>>();
  if (wire != nullptr) transport = std::make_unique<transport::Route>(std::move(transport), *wire);
  return std::make_unique<engine::Domain>(std::move(transport));
}

// As far as can be known before MPI_Init: are all ranks on this node, and would helpers be of no use there? Then none
// is made, and the host is not asked for MPI_THREAD_MULTIPLE, with which its own small operations take up to a fifth
// longer. Hosts that cannot call us while a rank waits need a helper all the same.
bool all_within_node() {
  const Launcher started = launcher();
  if (host.progress_register == nullptr || started.ranks < 1 || started.local_ranks != started.ranks) return false;
  const Options& wish = options();
  return !place_helpers(Topology::of_this_node(), crew_of_this_process(), wish.placement, wish.helper_cpus, 1)
              .within_node;
}

}  // namespace

constinit std::atomic<Process*> the_process{nullptr};

Process& make_process() {
  static auto* the = new Process;
  the_process.store(the, std::memory_order_release);
  return *the;
}

int Process::initialise(int* argc, char*** argv, int required, int* provided) {
  const Options& wish = options();
  log::set_verbosity(wish.verbose);
  warn_of_unknown_variables();
  host_only_ = wish.engine == EngineKind::host;
  helpers_ = wish.engine == EngineKind::thread && !all_within_node();
  const bool helper = helpers_ || (!host_only_ && host.progress_register == nullptr);
  int got = required;
  const int code = [&] {
    const space::FreshTables fresh(wish.space && space::own_space());
    return host.Init_thread(argc, argv, helper ? MPI_THREAD_MULTIPLE : required, &got);
  }();
  if (code != MPI_SUCCESS) return code;
  told_level_ = std::min(required, got);
  if (provided != nullptr) *provided = told_level_;
  multiple_ = got == MPI_THREAD_MULTIPLE;
  one_at_a_time = !multiple_;

  int rank = 0;
  host.Comm_rank(MPI_COMM_WORLD, &rank);
  log::set_rank(rank);
  if (!wish.report.empty()) observer_ = std::make_unique<observe::Observer>(wish.timeline, wish.domains);
  MPI_Comm node = MPI_COMM_NULL;
  if (!host_only_) {
    measuring_ = std::getenv("URAKATA_MEASURE_START") != nullptr;
    register_predefined();
    node = make_communicators();
    int* most = nullptr;
    int found = 0;
    host.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    if (found != 0) largest_tag_ = *most;
    const std::int64_t tags = std::int64_t{largest_tag_} + 1;
    context_limit_ =
        static_cast<std::int32_t>(std::min<std::int64_t>(tags >> transport::Group::kContextShift, 1 << 14));
    if (context_limit_ == 0) {
      log::warning("the host allows message tags up to %d only; Urakata needs 65536 and leaves all to the host",
                   largest_tag_);
      host_only_ = true;
    }
  }
  if (!host_only_) {
    const Crew crew = note_nodes(node);
    auto [wire, why] = open_wire(world_, rank, nodes_);
    wire_ = std::move(wire);
    transport_why_ = std::move(why);
    log::information("transport %s: %s", wire_ ? "wire" : "host", transport_why_.c_str());
    if (!wire_ && wish.transport == TransportWish::wire) {
      log::warning_of_all("no transport wire: %s; the host carries all messages", transport_why_.c_str());
    }
    make_engines(crew);
    // exit() without MPI_Finalize: the helpers must be gone before the libraries are taken down.
    std::atexit([] { process().stop_helpers(); });
  }
  if (node != MPI_COMM_NULL) host.Comm_free(&node);
  if (!host_only_) enter_space(wish.space, multiple_);
  init_ns_ = now_ns();
  running_ = true;
  return MPI_SUCCESS;
}

MPI_Comm Process::make_communicators() {
  // By way of one that is given back: making communicators takes non-blocking collectives of the one they are made of,
  // and while there is a communicator that has done one, each of Open MPI's polls looks after these. MPI_COMM_WORLD
  // would stay.
  host.Comm_group(MPI_COMM_WORLD, &world_group_);
  MPI_Comm origin = MPI_COMM_NULL;
  host.Comm_create_group(MPI_COMM_WORLD, world_group_, 0, &origin);  // by messages
  host.Comm_dup(origin, &world_);
  host.Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
  MPI_Comm node = MPI_COMM_NULL;
  host.Comm_split_type(origin, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  host.Comm_free(&origin);
  return node;
}

Crew Process::note_nodes(MPI_Comm node) {
  MPI_Group group = MPI_GROUP_NULL;
  host.Comm_group(node, &group);
  const int first = 0;
  int leader = 0;
  host.Group_translate_ranks(group, 1, &first, world_group_, &leader);
  host.Group_free(&group);
  int rank = 0;
  int ranks = 1;
  Crew crew = crew_of_this_process();
  host.Comm_rank(node, &rank);
  host.Comm_size(node, &ranks);
  crew.rank = static_cast<std::size_t>(rank);
  crew.ranks = static_cast<std::size_t>(ranks);

  // First how much there is to tell, then no more than that: what the host allocates for larger messages it keeps.
  struct Card {
    std::int32_t leader = 0;
    std::int32_t words = 0;  // of the mask, up to the last that is not 0
  };
  static_assert(sizeof(Card) == 2 * sizeof(int));
  host.Comm_size(world_, &ranks);
  const auto world_ranks = static_cast<std::size_t>(ranks);
  std::vector<Card> cards(world_ranks);
  const Card own{leader, static_cast<std::int32_t>(crew.mask.used_words())};
  host.Allgather(&own, 2, MPI_INT, cards.data(), 2, MPI_INT, world_);
  const auto longest = static_cast<std::size_t>(std::ranges::max(cards, {}, &Card::words).words);
  std::vector<std::uint64_t> words(world_ranks * longest);
  host.Allgather(crew.mask.words().data(), static_cast<int>(longest), MPI_UINT64_T, words.data(),
                 static_cast<int>(longest), MPI_UINT64_T, world_);
  std::size_t which = 0;  // of the node's ranks
  for (std::size_t other = 0; other < world_ranks; ++other) {
    nodes_.push_back(cards[other].leader);
    if (cards[other].leader != leader) continue;
    crew.note(which++, CpuSet::from_words({words.data() + other * longest, longest}));
  }
  return crew;
}

bool Process::same_node(const std::vector<std::int32_t>& world_ranks) const {
  const std::int32_t node = nodes_[static_cast<std::size_t>(world_ranks.front())];
  return std::all_of(world_ranks.begin(), world_ranks.end(),
                     [&](std::int32_t rank) { return nodes_[static_cast<std::size_t>(rank)] == node; });
}

void Process::make_engines(const Crew& crew) {
  const Options& wish = options();
  const std::size_t count = std::max<std::uint32_t>(wish.domains, 1);
  placement_ = place_helpers(Topology::of_this_node(), crew, wish.placement, wish.helper_cpus, count);
  oversubscribed_ = placement_.oversubscribed;
  engine_why_ = placement_.reason;
  if (helpers_ && multiple_) {
    if (!placement_.refusal.empty()) log::warning_of_all("%s", placement_.refusal.c_str());
    for (std::size_t i = 0; i < count; ++i) {
      domains_.push_back(make_domain(wire_.get()));
      engine::HelperSettings settings;
      settings.name = "urakata/" + std::to_string(i);
      settings.spare = placement_.spare;
      settings.nap_ns = wish.nap_us * 1000;
      if (host.set_yield_when_idle != nullptr && count == 1) settings.turn = helper_turn;
      if (i < placement_.helpers.size()) settings.cpus = placement_.helpers[i];
      if (observer_ && wish.timeline) settings.progressed = helper_progressed;
      threads_.push_back(std::make_unique<engine::ThreadEngine>(*domains_.back(), settings));
      all_.push_back(threads_.back().get());
    }
  } else if (wish.engine == EngineKind::thread && !helpers_) {
    engine_why_ =
        "no helper, since all ranks are on this node (--placement shared makes one); it would be " + placement_.reason;
  } else if (wish.engine == EngineKind::thread) {
    engine_why_ =
        "the host does not allow calls by several threads (MPI_THREAD_MULTIPLE): engine poll instead of thread";
    log::warning_of_all("%s", engine_why_.c_str());
  }
  domains_.push_back(make_domain(wire_.get()));
  if (host.progress_register != nullptr || !multiple_) {
    poll_ = std::make_unique<engine::PollEngine>(*domains_.back());
  } else if (threads_.empty()) {
    engine::HelperSettings settings;
    settings.name = "urakata/rescue";
    settings.rescue = true;
    settings.nap_ns = kRescueNap;
    poll_ = std::make_unique<engine::ThreadEngine>(*domains_.back(), settings);
  }
  if (poll_) all_.push_back(poll_.get());
  std::vector<int> news;
  for (const auto& domain : domains_) news.insert(news.end(), domain->news().begin(), domain->news().end());
  watch_ = std::make_unique<SocketWatch>(std::move(news));
}

bool Process::nodes_apart(const std::vector<std::int32_t>& world_ranks) const {
  std::vector<std::int32_t> nodes;
  nodes.reserve(world_ranks.size());
  for (const std::int32_t rank : world_ranks) nodes.push_back(nodes_[static_cast<std::size_t>(rank)]);
  std::sort(nodes.begin(), nodes.end());
  return std::adjacent_find(nodes.begin(), nodes.end()) == nodes.end();
}

engine::Engine* Process::next_engine(const std::vector<std::int32_t>& world_ranks) {
  const bool callers_only = poll_ != nullptr && !placement_.within_node && same_node(world_ranks);
  if (threads_.empty() || callers_only) return poll_.get();
  return threads_[dealt_++ % threads_.size()].get();
}

engine::Engine* Process::engine_named(std::string_view name) {
  if (name == "poll") return poll_.get();
  if (name == "thread" && !threads_.empty()) return threads_.front().get();
  return nullptr;
}

std::string Process::why_no_engine(std::string_view name) const {
  if (name == "poll") {
    return "this host cannot call Urakata while a rank waits, so the helpers make the progress; to have no helpers, "
           "start the run with --engine poll";
  }
  return options().engine == EngineKind::thread ? engine_why_ : "only --engine thread makes helpers";
}

void Process::hook_progress() {
  if (host.progress_register != nullptr) std::call_once(hooked_, [] { host.progress_register(progress_hook); });
}

bool Process::step_all(std::int64_t bytes) {
  bool moved = false;
  if (!on_helper_thread) {  // messages move by the program's threads, which are one at a time where it says so
    moved = endpoint() != nullptr && endpoint()->progress();
    moved = progress_mixed() || moved;
  }
  for (engine::Engine* engine : all_) {
    if (engine->domain().pending() != 0) moved = engine->step(bytes) || moved;
  }
  return moved;
}

bool Process::told() const {
  if (wire_ == nullptr) return false;
  bool pending = false;
  for (engine::Engine* engine : all_) {
    if (engine->domain().pending() == 0) continue;
    if (!engine->domain().told()) return false;
    pending = true;
  }
  return pending;
}

bool Process::sleep() {
  bool pending = false;
  for (engine::Engine* engine : all_) {
    if (engine->domain().pending() == 0) continue;
    if (!engine->domain().told() && !engine->domain().network_only()) return false;
    pending = true;
  }
  if (!pending || watched_.exchange(true, std::memory_order_acquire)) return false;
  const bool slept = told() ? watch_->wait_for_news(kCallerSleep) : watch_->wait(kCallerSleep);
  watched_.store(false, std::memory_order_release);
  return slept;
}

void Process::stop_helpers() {
  stop_space_helper();
  for (engine::Engine* engine : all_) engine->stop();
}

int Process::finalise() {
  if (running_) {
    leave_space();
    running_ = false;
    if (!host_only_) {
      // Operations whose requests were freed: other ranks need our part in them.
      Ladder ladder(oversubscribed_);
      auto pending = [&] {
        return std::any_of(all_.begin(), all_.end(), [](engine::Engine* e) { return e->domain().pending() != 0; });
      };
      while (pending()) {
        if (!step_all()) ladder.step();
      }
      if (host.progress_unregister != nullptr) host.progress_unregister(progress_hook);
      stop_helpers();
      while (settle_one()) ladder.step();
    }
    if (observer_) write_report();
    if (!host_only_) {
      host.Group_free(&world_group_);
      host.Comm_free(&world_);
    }
  }
  return host.Finalize();
}

void Process::write_report() {
  observe::Meta meta;
  meta.finalize_ns = now_ns();
  meta.init_ns = init_ns_;
  int rank = 0;
  int ranks = 1;
  host.Comm_rank(MPI_COMM_WORLD, &rank);
  host.Comm_size(MPI_COMM_WORLD, &ranks);
  meta.rank = static_cast<std::uint32_t>(rank);
  meta.ranks = static_cast<std::uint32_t>(ranks);
  meta.program = command_line();
  meta.file = program_file != nullptr ? program_file : "";
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  host.Get_library_version(version, &length);
  meta.host_mpi = std::string(version).substr(0, std::string(version).find('\n'));
  meta.abi = kAbi;
  meta.engine = host_only_ ? "host" : std::string((threads_.empty() ? poll_ : threads_.front())->name());
  meta.engine_why = engine_why_;
  meta.transport = wire_ ? "wire" : "host";
  meta.transport_why = transport_why_;
  for (const Option& option : option_table()) {
    meta.options.push_back(
        {std::string(option.name), std::string(option_value(option)), std::string(option_origin(option))});
  }
  std::uint64_t helpers_ns = 0;
  for (engine::Engine* engine : all_) {
    const std::uint64_t used = engine->helper_cpu_ns();
    if (used == 0) continue;
    helpers_ns += used;
    meta.helpers.push_back({placement_.spare ? "spare core" : "shared core", "", static_cast<double>(used) * 1e-9});
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  meta.caller_cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime) - static_cast<double>(helpers_ns) * 1e-9;
  const auto written = observe::write(*observer_, std::string(options().report), meta);
  if (!written.ok()) log::error("%s", written.error().message.c_str());
}

}  // namespace urakata::shim
