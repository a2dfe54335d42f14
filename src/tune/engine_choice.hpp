// SPDX-License-Identifier: BSD-3-Clause
// Which engines a run has, and which kind of them advances the operations of a communicator.
//
// Everything here is a function of its arguments. The shim calls asks_for_threads() before the MPI library's MPI_Init,
// choose_engines() when all ranks have exchanged their facts, and by_callers() for each communicator. `urakata check`
// asks for a job that it does not start. Thread-safety: any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/options/options.hpp"
#include "tune/thread_placement.hpp"

namespace urakata::tune {

// What is known of a run before the MPI library's MPI_Init.
struct RunFacts {
  EngineKind asked = EngineKind::thread;
  bool hook = false;           // whether the MPI library calls Urakata while a rank waits in it
  bool one_node = false;       // whether all ranks are on this node, as the launcher says
  bool within_node = true;     // Placement::within_node, as far as this rank's mask tells
  std::string no_kernel = {};  // why the job cannot have engine kernel, if that was asked for; empty: it can
  // Whether this rank is alone on its node and its messages are to go by transport wire. Then a progress thread need
  // not call the MPI library.
  bool by_wire = false;
  std::string no_wire = {};  // after the ranks' exchange: why the messages do not go by wire after all; empty: they do
};

// What a rank knows, before the MPI library's MPI_Init, of how its messages to other nodes will travel.
struct WireSigns {
  bool alone = false;          // whether it is alone on its node, in a job that has other ranks
  bool wire = false;           // whether option TRANSPORT allows transport wire
  bool yields = true;          // whether option TRANSPORT prefers a better network to wire
  bool other_network = false;  // whether this node has a device of a better network, or of an unknown one
};
// RunFacts::by_wire. If a better network only shows in MPI_Init, it is too late to ask for MPI_THREAD_MULTIPLE. Then
// callers advance operations, and a warning names the option with which the next job asks. To ask in every job would
// slow down the small operations of all systems with TCP, for the sake of a network that hides its device.
inline bool counts_on_wire(const WireSigns& signs) {
  return signs.alone && signs.wire && !(signs.yields && signs.other_network);
}
// RunFacts::no_wire: `why`, followed by `network`, the result of job::better_network(), if neither is empty.
std::string no_wire_for(const std::string& why, const std::string& network);

// Whether to ask the MPI library for MPI_THREAD_MULTIPLE. That makes the library's own small operations up to a fifth
// slower, so only if an engine of the run has a thread that calls the MPI library.
bool asks_for_threads(const RunFacts& facts);

struct EngineChoice {
  struct Engine {
    std::string_view name;  // a choice of option ENGINE
    std::string why_not;    // why the run does not have it, and what to do; empty: it has
  };
  std::vector<Engine> engines;  // all engines but `native`, best first
  // Whether a periodic progress thread is to keep MPI's progress rule for engine `poll` and for messages in a space:
  // the MPI library does not call Urakata while a rank waits in it, and allows calls by several threads.
  bool periodic = false;
  std::string why;      // for the report: where progress threads are, or why there are none
  std::string warning;  // one line for all ranks; empty: none
  std::string refusal;  // why the job is not to run: it cannot have what was asked for; empty: it is to run

  std::vector<std::string_view> usable() const;      // names of the engines that the run has, best first
  std::string why_not(std::string_view name) const;  // of the engine of this name
};

// The engines of a run. `facts.asked` is not `native`. `threads`: the MPI library allows calls by several threads.
EngineChoice choose_engines(const RunFacts& facts, bool threads, const Placement& placement);

// Why a rank cannot have engine kernel; empty: it can. `no_chains`: why the Linux kernel cannot run chains of requests,
// chain::why_no_chains(); empty: it can.
std::string kernel_obstacle(const std::string& no_chains, const Placement& placement);

// Why a communicator cannot have a channel set in a job that has engine kernel; empty: it can. `ranks`: its number of
// ranks. `nodes_apart`: each rank is on a node of its own. `by_wire`: all its messages go by transport wire.
std::string channel_set_obstacle(std::size_t ranks, bool nodes_apart, bool by_wire);

// Whether callers advance the operations of a communicator although the run may have progress threads
// (docs/design/decisions/0025-progress-threads-need-a-core.md). `same_node`: all its ranks are on this node.
inline bool by_callers(const Placement& placement, bool same_node) { return !placement.within_node && same_node; }

// Whether a job of several nodes that is not started yet could have an engine on this machine.
struct EngineFinding {
  std::string_view name;
  bool usable = true;
  std::string why;  // how operations would progress, or why it could not have the engine
};
// The findings for all engines. `threads`: as in choose_engines(). `no_kernel`: the result of kernel_obstacle().
std::vector<EngineFinding> find_engines(bool threads, const Placement& placement, const std::string& no_kernel);

}  // namespace urakata::tune
