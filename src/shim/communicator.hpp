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
#include <span>
#include <vector>

#include "base/result.hpp"
#include "base/threads.hpp"
#include "engine/engine.hpp"
#include "shim/abi.hpp"
#include "shim/prepared.hpp"
#include "transport/group.hpp"
#include "tune/decision.hpp"

namespace urakata::shim {

class Communicator final : public transport::Group {
 public:
  // Starts to exchange contexts: a non-blocking collective of the host on `handle`, in the program's order of
  // collectives.
  Communicator(MPI_Comm handle, std::vector<std::int32_t> world_ranks, std::uint32_t own_rank);

  // A communicator of the same group with a context of its own, for one persistent collective: those may be started in
  // another order on each rank, so they cannot share a sequence. Held once by the caller; holds this one, which has the
  // schedules.
  Communicator* sibling();

  MPI_Comm handle() const { return handle_; }
  engine::Engine* engine = nullptr;  // constant while an operation is pending

  tune::Way way() const;

  // The prepared collective of this key and these blocks; nullptr where none is kept.
  Prepared* cached(const Key& key, std::span<const std::uint64_t> blocks);
  // Keeps one that is not cached yet, in the place of an idle one where there are many. What was given, as cached.
  Prepared* keep(std::unique_ptr<Prepared> made);

  void hold() { fetch_add(users_, 1U, std::memory_order_relaxed); }
  void release();

  // The handle is being freed by the program. Where contexts are still being exchanged on it, true: we free it later.
  bool orphan();

 private:
  ~Communicator() override;
  bool settle() override;

  MPI_Comm handle_;
  MPI_Request exchange_ = MPI_REQUEST_NULL;
  // The handle's life, shared with the siblings: how many exchanges run on it, and whether the program has freed it.
  struct Life {
    static constexpr std::uint32_t kFreed = 1U << 31U;
    std::atomic<std::uint32_t> word{0};
  };
  Communicator(MPI_Comm handle, std::vector<std::int32_t> world_ranks, std::uint32_t own_rank,
               std::shared_ptr<Life> life);

  std::shared_ptr<Life> life_;
  Communicator* origin_ = nullptr;       // of a sibling; held
  std::atomic<std::uint32_t> users_{2};  // the handle's own until it is freed, and the exchange's until it is done

  SpinLock lock_;
  std::vector<std::unique_ptr<Prepared>> cache_;
  std::uint64_t uses_ = 0;
};

// The world ranks of an intracommunicator; empty where one is not in MPI_COMM_WORLD.
std::vector<std::int32_t> world_ranks(MPI_Comm handle);

// The communicator of a handle whose non-blocking collectives Urakata carries; nullptr where they are the host's: not
// an intracommunicator of at least two ranks of MPI_COMM_WORLD, or switched to engine `host`.
Communicator* communicator(MPI_Comm handle);

// MPI_Comm_free or MPI_Comm_disconnect is about to free the handle. True: do not, it is freed later.
bool forget_communicator(MPI_Comm handle);

// Chooses the engine of a communicator by name ("host", "poll", "thread"). Fails while operations are pending.
Status choose_engine(MPI_Comm handle, std::string_view name);

// Is a non-blocking collective pending on the communicator?
bool pending_on(MPI_Comm handle);
// Waits until none is, for MPI_Comm_disconnect.
void drain(MPI_Comm handle);

// Moves one exchange on that nobody has waited for; false where there is none left. For MPI_Finalize, after the
// helpers' end.
bool settle_one();

MPI_Comm private_world();

}  // namespace urakata::shim
