// SPDX-License-Identifier: BSD-3-Clause
// An instance: one running execution of a schedule. Buffers are bound to addresses, nodes count their iterations.
//
// Life: prepare (by the caller: bind, take a sequence number) -> submitted to a domain -> activate -> advance ... ->
// `outcome` is set. Made once per schedule and used again: after the first start nothing is allocated.
//
// Thread-safety: between submit and the outcome only the owner of the domain touches it; `outcome` may be read by
// anyone (acquire). Before and after, whoever holds it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/bound_buffers.hpp"
#include "engine/budget.hpp"
#include "engine/executor.hpp"
#include "engine/moves.hpp"
#include "engine/node_states.hpp"
#include "layout/layout.hpp"
#include "reduce/reducer.hpp"
#include "schedule/schedule.hpp"
#include "transport/group.hpp"
#include "transport/transport.hpp"

namespace urakata::engine {

class Instance {
 public:
  // The schedule must outlive the instance.
  explicit Instance(const schedule::Schedule& schedule);

  const schedule::Schedule& schedule() const { return schedule_; }

  // Are the messages that it begins with so few and short that posting them costs less than handing them to another
  // thread? Then the starting caller does so.
  bool brief() const { return brief_; }

  // --- set by the caller before submit ---
  transport::Group* group = nullptr;
  std::uint64_t sequence = 0;
  const reduce::Reducer* reducer = nullptr;
  const layout::Layout* layout =
      nullptr;  // of all buffers, where a reduction works on elements with holes; else nullptr
  std::span<const Streams>
      streams;             // of messages to each site, by its number; outlives the instance. Empty: as they come
  bool tells_all = false;  // where it fails, every member; else those that it exchanges messages with
  std::vector<Move> packs;
  std::vector<Move> unpacks;
  bool callers_only = false;     // packing or unpacking calls the MPI library, which progress threads must not
  Executor* executor = nullptr;  // where the kernel executes the whole of the graph (engine kernel)
  void bind(schedule::BufferId buffer, std::byte* address) { buffers_.bind(buffer, address); }
  // Of this start, where there is to be a report: begin(). By what it receives, if anything, else by
  // what it sends: a send is over when the kernel has it, and what is computed goes with what comes.
  transport::ProgressCount progress;
  // Allocates the temporaries (kept for later starts). shift: true lower bound of the elements that they hold; reach:
  // the bytes by which the last of them goes beyond its extent.
  void bind_temps(std::int64_t shift, std::uint64_t reach = 0) { buffers_.bind_temps(schedule_, shift, reach); }

  // --- by the domain's owner ---
  Instance* next = nullptr;  // link of the domain's queue or list
  Instance* previous = nullptr;
  void activate();
  static constexpr schedule::NodeId kWhole = ~schedule::NodeId{0};  // in a ticket: the whole of the graph
  // A message of this instance is finished.
  void complete(const transport::Ticket& ticket, int code);
  // Posts the messages that are ready, and works on what else is; false when the budget ended first, only the caller
  // could go on, or messages are left for another step.
  bool advance(transport::Transport& transport, Budget& budget);
  // Nothing more is started and what was posted is given up, at the next advance; the instance is done when no message
  // uses its buffers any more. Where all messages have come it ends well all the same.
  void fail(int code);
  bool runnable = false;  // advance returned false: there is more to do without waiting for a message
  bool done() const { return phase_ == Phase::done; }
  // Nodes that wait to be looked at, and how many were looked at since this was made.
  std::size_t queued() const { return nodes_.queued(); }
  std::uint64_t looked_at() const { return nodes_.looked_at(); }

  // --- by anyone ---
  enum class Outcome : std::uint32_t { running, finished, abandoned };
  std::atomic<Outcome> outcome{Outcome::finished};
  bool finished() const { return outcome.load(std::memory_order_acquire) == Outcome::finished; }
  // Valid once finished: 0 or the first error code of the transport. Set by the caller before submit: 0, or what the
  // instance ends with because its rank cannot start it.
  int error = 0;

  // Called once by the domain's owner when the last node is done and before `outcome` says so; not thread-bound.
  void (*on_finish)(Instance&) = nullptr;
  // Called after the end when nobody waits any more (MPI_Request_free): gives the instance back.
  void (*on_abandoned)(Instance&) = nullptr;
  void* user = nullptr;  // for those two

 private:
  enum class Phase : std::uint8_t { pack, graph, unpack, done };

  // Is what these nodes do what its progress is counted by?
  bool counts(schedule::Kind kind) const { return kind == counted_ && progress.asked(); }
  // `told`: bytes of it that the transport has told of.
  void finish_iteration(schedule::NodeId id, std::uint32_t iteration, std::uint64_t told = 0);
  // Why run_graph() goes on to the next node. waits: for another node, or it is finished. later: more of it in another
  // step; other nodes may go on in this one. no_budget: its next piece is longer than the budget allows.
  enum class Left : std::uint8_t { waits, later, no_budget };
  Left start_iterations(schedule::NodeId id, transport::Transport& transport, Budget& budget);
  bool run_graph(transport::Transport& transport, Budget& budget);
  void tell(std::int32_t member, transport::Transport& transport);
  void withdraw(transport::Transport& transport);
  void end_early(transport::Transport& transport);
  bool hand_over(transport::Transport& transport);
  void copy(const schedule::Node& node, std::uint32_t iteration, std::uint64_t bytes);
  void post(schedule::NodeId id, std::uint32_t iteration, transport::Transport& transport);

  // Constant after construction.
  const schedule::Schedule& schedule_;
  const bool brief_;
  const schedule::Kind counted_;

  // By the caller before submit: bind(), bind_temps(). Then the owner's.
  BoundBuffers buffers_;

  // By the domain's owner.
  NodeStates nodes_;
  MoveCursor moves_;
  std::vector<std::byte> scratch_;  // for copies of elements with holes
  std::uint64_t in_flight_ = 0;
  Phase phase_ = Phase::pack;
  bool handed_over_ = false;  // its graph is run by the kernel
  bool given_up_ = false;     // it has failed, its messages were given up, and its peers told
};

}  // namespace urakata::engine
