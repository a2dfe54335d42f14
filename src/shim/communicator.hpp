// What the shim knows of a communicator: the group, its place among the tags, its engine, its prepared collectives.
//
// A Communicator lives from the first non-blocking collective on the handle until the handle is freed and the last
// operation on it is finished. Messages travel on one private duplicate of MPI_COMM_WORLD (see transport/group.hpp).
//
// Thread-safety: communicator() by any thread; cached() and keep() under the communicator's own lock; hold and
// release by any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "base/threads.hpp"
#include "engine/engine.hpp"
#include "job/contexts.hpp"
#include "shim/abi.hpp"
#include "shim/prepared.hpp"
#include "shim/topology.hpp"
#include "transport/group.hpp"
#include "tune/decision.hpp"

namespace urakata::shim {

class Communicator final : public transport::Group {
 public:
  // `place` has a context.
  Communicator(MPI_Comm handle, std::vector<std::int32_t> world_ranks, std::uint32_t own_rank, job::Place place,
               std::shared_ptr<job::Family> family);

  // A communicator of the same group with a context of its own, for one persistent collective: those may be started in
  // another order on each rank, so they cannot share a sequence. Held once by the caller; holds this one, which has the
  // schedules. Collective; nullptr, on all ranks alike: there is no room for its context.
  Communicator* sibling();

  MPI_Comm handle() const { return handle_; }
  engine::Engine* engine = nullptr;  // constant while an operation is pending

  tune::Medium medium() const;

  // Those of its topology; nullptr where it has none.
  const Neighbours* neighbours();

  // The prepared collective of this key and these blocks; nullptr where none is kept.
  Prepared* cached(const Key& key, std::span<const std::uint64_t> blocks);
  // Keeps one that is not cached yet, in the place of an idle one where there are many. What was given, as cached.
  Prepared* keep(std::unique_ptr<Prepared> made);

  void retain() { fetch_add(users_, 1U, std::memory_order_relaxed); }
  void release();

 private:
  ~Communicator();

  MPI_Comm handle_;
  job::Place place_;
  std::shared_ptr<job::Family> family_;
  bool by_wire_ = false;                 // all messages between its nodes go by wire
  Communicator* origin_ = nullptr;       // of a sibling; held
  std::atomic<std::uint32_t> users_{1};  // the handle's own until it is freed

  std::once_flag neighbours_read_;
  std::optional<Neighbours> neighbours_;

  SpinLock lock_;
  std::vector<std::unique_ptr<Prepared>> cache_;
  std::uint64_t uses_ = 0;
};

// The world ranks of an intracommunicator; empty where one is not in MPI_COMM_WORLD.
std::vector<std::int32_t> world_ranks(MPI_Comm handle);

// The communicator of a handle whose non-blocking collectives Urakata carries; nullptr where they are the host's: not
// known (shim/kin.hpp), of one rank, of ranks whose options differ, without a context, or switched to engine `host`.
Communicator* communicator(MPI_Comm handle);

// MPI_Comm_free or MPI_Comm_disconnect is about to free the handle.
void forget_communicator(MPI_Comm handle);

// Chooses the engine of a communicator by name ("host", "poll", "thread"; empty: as it is). Collective: engine host is
// for all ranks or for none, and where one rank fails, nothing changes on any. `pending`: this one fails since operations
// are pending.
Status choose_engine(MPI_Comm handle, std::string_view name, bool* pending);

// Is a non-blocking collective pending on the communicator?
bool pending_on(MPI_Comm handle);
// Waits until none is, for MPI_Comm_disconnect.
void drain(MPI_Comm handle);

MPI_Comm private_world();

}  // namespace urakata::shim
