// SPDX-License-Identifier: BSD-3-Clause
// An instance: one execution of a schedule. Buffers are bound to addresses, nodes count their iterations.
//
// Life: prepare (by the caller: bind, take a sequence number) -> submitted to a domain -> activate -> advance ... ->
// `outcome` is set. An instance is used again for later starts of its schedule, which then allocate nothing.
//
// Thread-safety: between submit and the outcome only the owner of the domain touches the instance. Any thread may read
// `outcome` (acquire), and one of them may replace `running` by `abandoned`. Before and after, one thread at a time.
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

  // Whether the messages that the schedule begins with are so few and short that posting them costs less than handing
  // them to another thread. Then the starting caller posts them.
  bool brief() const { return brief_; }

  // --- set by the caller before submit ---
  transport::Group* group = nullptr;
  std::uint64_t sequence = 0;
  const reduce::Reducer* reducer = nullptr;
  const layout::Layout* layout =
      nullptr;  // layout of all buffers if a reduction works on elements with holes; else nullptr
  std::span<const Streams>
      streams;             // connections to each site, by number; outlives the instance. Empty: the transport decides
  bool tells_all = false;  // if it fails, it tells every member; else those that it exchanges messages with
  std::vector<Move> packs;
  std::vector<Move> unpacks;
  bool callers_only = false;     // packing or unpacking calls the MPI library, which progress threads must not
  Executor* executor = nullptr;  // engine kernel: executes the whole graph; else nullptr
  void bind(schedule::BufferId buffer, std::byte* address) { buffers_.bind(buffer, address); }
  // Progress of this start, for a report; not counted unless begin() was called. Counts the bytes received. A schedule
  // without receives counts the bytes sent, one without messages the bytes copied. With an executor: Executor::bytes().
  transport::ProgressCount progress;
  // Allocates the temporaries (kept for later starts). shift: true lower bound of the elements that they hold; reach:
  // the bytes by which the last element goes beyond its extent.
  void bind_temps(std::int64_t shift, std::uint64_t reach = 0) { buffers_.bind_temps(schedule_, shift, reach); }

  // --- by the domain's owner ---
  Instance* next = nullptr;  // link of the domain's queue or list
  Instance* previous = nullptr;
  void activate();
  static constexpr schedule::NodeId kWhole = ~schedule::NodeId{0};  // in a ticket: the whole graph
  // A message of this instance, or the whole graph, has ended. code: 0, or the transport's error code.
  void complete(const transport::Ticket& ticket, int code);
  // Posts the messages that are ready, then runs the copies and reductions that are ready. Returns false if more could
  // be done without waiting for a message: the budget ended, only a caller may go on, or messages are left for another
  // step.
  bool advance(transport::Transport& transport, Budget& budget);
  // The next advance() starts nothing more and gives up the posted messages. The instance is done when no message uses
  // its buffers any more. No effect once the graph has finished.
  void fail(int code);
  bool runnable = false;  // whether the last advance() returned false
  bool done() const { return phase_ == Phase::done; }
  // Nodes in the queues, and how many were taken from them since construction.
  std::size_t queued() const { return nodes_.queued(); }
  std::uint64_t looked_at() const { return nodes_.looked_at(); }

  // --- by anyone ---
  enum class Outcome : std::uint32_t { running, finished, abandoned };
  std::atomic<Outcome> outcome{Outcome::finished};
  bool finished() const { return outcome.load(std::memory_order_acquire) == Outcome::finished; }
  // Valid once finished: 0, or the first error code. The caller sets it before submit: to 0, or to the error code with
  // which the instance is to end because its rank cannot start it.
  int error = 0;

  // Called once by the domain's owner, on any thread, when the instance is done, also after a failure, and before
  // `outcome` is set; may be nullptr.
  void (*on_finish)(Instance&) = nullptr;
  // Called by the domain's owner at the end if `outcome` was `abandoned` (MPI_Request_free): gives the instance back.
  void (*on_abandoned)(Instance&) = nullptr;
  void* user = nullptr;  // for on_finish and on_abandoned

 private:
  enum class Phase : std::uint8_t { pack, graph, unpack, done };

  // Whether `progress` counts nodes of this kind.
  bool counts(schedule::Kind kind) const { return kind == counted_ && progress.asked(); }
  // `told`: bytes of the iteration that the transport has counted already.
  void finish_iteration(schedule::NodeId id, std::uint32_t iteration, std::uint64_t told = 0);
  // Why run_graph() goes on to the next node. waits: the node waits for another one or for a message, or is finished.
  // later: more of the node in another step; other nodes may go on in this one. no_budget: the node's next piece is
  // longer than the budget allows.
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

  // touched by the caller before submit (bind(), bind_temps()), then by the domain's owner
  BoundBuffers buffers_;

  // touched by the domain's owner
  NodeStates nodes_;
  MoveCursor moves_;
  std::vector<std::byte> scratch_;  // for copies of elements with holes
  std::uint64_t in_flight_ = 0;     // posted messages that have not ended; the whole graph counts as one
  Phase phase_ = Phase::pack;
  bool handed_over_ = false;  // whether the executor has the graph
  bool given_up_ = false;     // whether the instance has failed, given up its messages, and told its peers
};

}  // namespace urakata::engine
