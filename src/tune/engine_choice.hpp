// SPDX-License-Identifier: BSD-3-Clause
// Who advances operations: the engines of a run, and which kind of them a communicator gets.
//
// Everything here is a function of its arguments. The shim asks before the MPI library's MPI_Init, when all ranks have
// met, and for each communicator; `urakata check` asks for a job that it does not start.
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
  bool hook = false;           // the MPI library calls Urakata while a rank waits in it
  bool one_node = false;       // all ranks are on this node, as the launcher says
  bool within_node = true;     // Placement::within_node, as far as this rank's mask tells
  std::string no_kernel = {};  // why the job cannot have engine kernel, where that was asked for; empty: it can
  // This rank is alone on its node, and its messages are to go by transport wire: then a progress thread need not call
  // the MPI library.
  bool by_wire = false;
  std::string no_wire = {};  // once the ranks have met: why they do not go that way after all; empty: they do
};

// What a rank knows before the MPI library's MPI_Init of the way that its messages to other nodes take.
struct WireSigns {
  bool alone = false;          // on its node, in a job that has other ranks
  bool wire = false;           // option TRANSPORT allows transport wire
  bool yields = true;          // to a better network, by option TRANSPORT
  bool other_network = false;  // this node has a device of one, or one that may be
};
// RunFacts::by_wire. A better network that shows in MPI_Init only comes too late: then callers advance operations, and
// a warning names the option by which the next job asks for calls by several threads. To ask in every job would make
// the small operations of all systems with TCP longer, for a network that hides its device.
inline bool counts_on_wire(const WireSigns& signs) {
  return signs.alone && signs.wire && !(signs.yields && signs.other_network);
}
// RunFacts::no_wire, where a better network was found: `why`, and the sign of the network (job/better_network.hpp).
std::string no_wire_for(const std::string& why, const std::string& network);

// Is the MPI library to be asked for calls by several threads at once? MPI_THREAD_MULTIPLE makes its own small
// operations up to a fifth longer, so only where an engine of the run has a thread that calls the MPI library.
bool asks_for_threads(const RunFacts& facts);

struct EngineChoice {
  struct Engine {
    std::string_view name;  // a choice of option ENGINE
    std::string why_not;    // and what to do; empty: it is to be had
  };
  std::vector<Engine> engines;  // all that there are, best first
  // The MPI library can call Urakata only by a thread of ours, which keeps MPI's progress rule for engine `poll` and
  // for messages in a space.
  bool periodic = false;
  std::string why;      // for the report: where progress threads are, or why there are none
  std::string warning;  // one line for all ranks; empty: none
  std::string refusal;  // what was asked for cannot be had, and the job is not to run; empty: it is

  std::vector<std::string_view> usable() const;  // best first
  std::string why_not(std::string_view name) const;
};

// `facts.asked` is not `native`. `threads`: the MPI library allows calls by several threads at once.
EngineChoice choose_engines(const RunFacts& facts, bool threads, const Placement& placement);

// Why a rank cannot have engine kernel; empty: it can. `no_chains`: why the kernel cannot run them (chain/ring.hpp).
std::string kernel_obstacle(const std::string& no_chains, const Placement& placement);

// Why a communicator's operations cannot be the kernel's in a job that has engine kernel: of how many ranks it is,
// whether each is on a node of its own, and whether all its messages go by transport wire. Empty: they can.
std::string channel_set_obstacle(std::size_t ranks, bool nodes_apart, bool by_wire);

// Do callers advance the operations of a communicator, though the run may have progress threads?
// (docs/design/decisions/0025-progress-threads-need-a-core.md)
inline bool by_callers(const Placement& placement, bool same_node) { return !placement.within_node && same_node; }

// An engine of a job of several nodes that is not started yet: is it to be had here, and how, or why not?
struct EngineFinding {
  std::string_view name;
  bool usable = true;
  std::string why;
};
// `no_kernel`: kernel_obstacle().
std::vector<EngineFinding> find_engines(bool threads, const Placement& placement, const std::string& no_kernel);

}  // namespace urakata::tune
