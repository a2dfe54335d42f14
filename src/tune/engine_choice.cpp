// SPDX-License-Identifier: BSD-3-Clause
#include "tune/engine_choice.hpp"

#include <algorithm>
#include <array>

#include "tune/link_choice.hpp"

namespace urakata::tune {
namespace {

// Whether progress threads were asked for, and not all ranks are on this node or they may serve ranks of one node, too.
bool progress_threads_pay(const RunFacts& facts) {
  const bool wanted = facts.asked == EngineKind::thread || facts.asked == EngineKind::kernel;
  return wanted && (!facts.one_node || facts.within_node);
}

bool thread_needs_threads(const RunFacts& facts) { return progress_threads_pay(facts) && !facts.by_wire; }

std::string why_no_thread(const RunFacts& facts, bool threads, const Placement& placement) {
  if (facts.asked != EngineKind::thread && facts.asked != EngineKind::kernel) {
    return "only --engine thread makes progress threads";
  }
  if (!progress_threads_pay(facts)) {
    return "no progress thread, since all ranks are on this node (--placement shared makes one). Its place would be: " +
           placement.reason;
  }
  if (threads || (facts.by_wire && facts.no_wire.empty())) return "";
  if (facts.by_wire) {
    return "no transport wire (" + facts.no_wire +
           "). With --transport native a progress thread may use the MPI library";
  }
  return "the MPI library does not allow calls by several threads (MPI_THREAD_MULTIPLE)";
}

std::string how_thread(const Placement& placement) {
  std::string how = placement.spare ? "on spare cores" : "on the ranks' own cores (shared)";
  if (!placement.within_node) how += ", only for messages to other nodes; --placement shared: for all";
  return "progress threads would run " + how;
}

// If the MPI library does not call Urakata while a rank waits in it, a periodic progress thread keeps MPI's progress
// rule. That thread calls the MPI library.
bool poll_needs_threads(const RunFacts& facts) { return facts.asked != EngineKind::native && !facts.hook; }

std::string why_no_poll(const RunFacts&, bool, const Placement&) { return ""; }

std::string how_poll(const Placement&) { return "operations progress inside MPI calls"; }

// Engine kernel itself has no thread that calls the MPI library. Operations that it does not run are engine thread's,
// whose row asks for threads: in MPI_Init it is not known that a program will start no such operation.
bool kernel_needs_threads(const RunFacts&) { return false; }

std::string why_no_kernel(const RunFacts& facts, bool, const Placement&) {
  if (facts.asked != EngineKind::kernel) return "only --engine kernel hands operations to the kernel";
  return facts.no_kernel;
}

std::string how_kernel(const Placement&) {
  return "the kernel would carry on broadcasts, allgathers and alltoalls between nodes, in the time of the ranks' own "
         "threads; it ends their blocking system calls (EINTR); all else is engine thread's, so there is its progress "
         "thread, too";
}

struct Row {
  EngineKind engine;
  bool (*needs_threads)(const RunFacts& facts);
  std::string (*why_not)(const RunFacts& facts, bool threads, const Placement& placement);
  std::string (*how)(const Placement& placement);  // how operations progress, if the run has the engine
};

// Best first; engine kernel is the last, since it runs only instances made for it.
constexpr std::array kEngineTable = {
    Row{EngineKind::thread, thread_needs_threads, why_no_thread, how_thread},
    Row{EngineKind::poll, poll_needs_threads, why_no_poll, how_poll},
    Row{EngineKind::kernel, kernel_needs_threads, why_no_kernel, how_kernel},
};

}  // namespace

bool asks_for_threads(const RunFacts& facts) {
  return std::ranges::any_of(kEngineTable, [&](const Row& row) { return row.needs_threads(facts); });
}

std::string kernel_obstacle(const std::string& no_chains, const Placement& placement) {
  if (!no_chains.empty()) return no_chains;
  if (placement.oversubscribed) {
    return "ranks share cores here, and the kernel carries a rank's operations on only while that rank has its core "
           "(give each rank a core of its own)";
  }
  return "";
}

std::string channel_set_obstacle(std::size_t ranks, bool nodes_apart, bool by_wire) {
  // Each rank builds the schedules of all ranks once for an operation, to know whether all can be chained, and has a
  // connection to every other rank.
  constexpr std::size_t kMostRanks = 64;
  if (ranks > kMostRanks) return "it has more than " + std::to_string(kMostRanks) + " ranks";
  if (!nodes_apart) return "several of its ranks are on one node";
  return by_wire ? "" : "not all of its ranks reach each other by transport wire";
}

std::string no_wire_for(const std::string& why, const std::string& network) {
  return why.empty() || network.empty() ? why : why + "; here " + network;
}

bool link_has_progress_thread(const RunFacts& facts) { return progress_threads_pay(facts); }

EngineChoice choose_engines(const RunFacts& facts, bool threads, const Placement& placement) {
  if (facts.asked == EngineKind::kernel && !facts.no_kernel.empty()) {
    RunFacts instead = facts;
    instead.asked = EngineKind::thread;
    EngineChoice choice = choose_engines(instead, threads, placement);
    std::ranges::find(choice.engines, name(EngineKind::kernel), &EngineChoice::Engine::name)->why_not = facts.no_kernel;
    const std::string_view got = choice.why_not(name(EngineKind::thread)).empty() ? "thread" : "poll";
    const std::string line = "engine " + std::string(got) + " instead of kernel: " + facts.no_kernel;
    // The warning for engine poll would begin with the same words as this line.
    const std::string more = got == "poll" && !choice.warning.empty() ? choice.why : choice.warning;
    choice.warning = more.empty() ? line : line + "; " + more;
    choice.why = choice.why.empty() ? facts.no_kernel : facts.no_kernel + "; " + choice.why;
    return choice;
  }
  EngineChoice choice;
  for (const Row& row : kEngineTable) {
    choice.engines.push_back({name(row.engine), row.why_not(facts, threads, placement)});
  }
  choice.periodic = !facts.hook && threads;
  if (const std::string why_not = choice.why_not(name(facts.asked)); !why_not.empty()) {
    choice.why = why_not;
    if (progress_threads_pay(facts))
      choice.warning = "engine poll instead of " + std::string(name(facts.asked)) + ": " + why_not;
    return choice;
  }
  choice.why = placement.reason;
  if (facts.asked == EngineKind::poll) return choice;
  if (placement.refused_spare) {
    choice.refusal = "--placement spare: " + placement.refusal;
  } else {
    choice.warning = placement.refusal;
  }
  return choice;
}

std::vector<std::string_view> EngineChoice::usable() const {
  std::vector<std::string_view> names;
  for (const Engine& engine : engines) {
    if (engine.why_not.empty()) names.push_back(engine.name);
  }
  return names;
}

std::string EngineChoice::why_not(std::string_view name) const {
  const auto found = std::ranges::find(engines, name, &Engine::name);
  return found != engines.end() ? found->why_not : "there is no engine of this name";
}

std::vector<EngineFinding> find_engines(bool threads, const Placement& placement, const std::string& no_kernel) {
  std::vector<EngineFinding> found{{name(EngineKind::native), true, "everything is left to the MPI library"}};
  for (const EngineKind engine : {EngineKind::poll, EngineKind::thread, EngineKind::kernel}) {
    const auto row = std::ranges::find(kEngineTable, engine, &Row::engine);
    std::string why_not = row->why_not({.asked = engine, .no_kernel = no_kernel}, threads, placement);
    const bool usable = why_not.empty();
    found.push_back({name(engine), usable, usable ? row->how(placement) : std::move(why_not)});
  }
  return found;
}

}  // namespace urakata::tune
