// SPDX-License-Identifier: BSD-3-Clause
// What the shim knows of a communicator: the group, its contexts in the tags, its engine, its prepared collectives.
//
// A Communicator lives from the first non-blocking collective on the handle until the handle is freed and the last
// operation on it is finished. Messages travel on one private duplicate of MPI_COMM_WORLD (see transport/group.hpp).
//
// Thread-safety: communicator() by any thread; cached() and keep() under the communicator's own lock; retain and
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
#include "shim/communicators/error_handler.hpp"
#include "shim/communicators/neighbours.hpp"
#include "shim/communicators/prepared.hpp"
#include "shim/kernel/channel_sets.hpp"
#include "shim/native/abi.hpp"
#include "transport/group.hpp"
#include "tune/decision.hpp"

namespace urakata::lanes {
class Placement;
}

namespace urakata::shim {

class Communicator final : public transport::Group {
 public:
  // `numbers` has a context.
  Communicator(MPI_Comm handle, std::vector<std::int32_t> world_ranks, std::uint32_t own_rank,
               job::MemberContexts numbers, std::shared_ptr<job::ChildContexts> children,
               KernelPartHolder kernel_part = nullptr);

  // A communicator of the same group with a context of its own, for one persistent collective: those may be started in
  // another order on each rank, so they cannot share a sequence. Retained once for the caller; retains this one, which
  // has the schedules. Collective; nullptr, on all ranks alike: there is no room for its context.
  Communicator* sibling();

  // Where errors of operations on the communicator go, also after the program has freed it.
  ErrorTarget error_target() const;
  // The program is about to free the handle.
  void before_free();
  // The program has freed the handle: gives the handle's reference back.
  void close();
  engine::Engine* engine = nullptr;  // constant while an operation is pending

  // The number that a member has for this communicator's endpoint communicator, and for no other one ever.
  std::uint32_t number_at(std::uint32_t member) const { return numbers_.endpoint_comm_of(world[member]); }
  bool channels_refused = false;  // used by the functions of channel_agreement.hpp only

  // The part of it whose operations the kernel runs, with a sequence and an engine of its own; it lives as long as
  // this. nullptr: the kernel runs none.
  Communicator* by_kernel() { return kernel_wanted_ ? chained_.get() : nullptr; }
  bool has_kernel_part() const { return chained_ != nullptr; }
  void want_kernel(bool wanted) { kernel_wanted_ = wanted; }
  engine::KernelPart* kernel_part() const { return kernel_part_.get(); }  // of such a part
  // Is every operation finished that was started, also by the kernel?
  bool quiet() const { return idle() && (chained_ == nullptr || chained_->idle()); }

  tune::Medium medium() const;

  // Where its ranks are; nullptr: all are at one site.
  const lanes::Placement* placement() const { return placement_.get(); }

  // Those of its topology; nullptr where it has none.
  const Neighbours* neighbours();

  // The prepared collective of this key and these blocks; nullptr where none is kept.
  Prepared* cached(const Key& key, std::span<const std::uint64_t> blocks);
  // Keeps one that is not cached yet, in the place of an idle one where there are many. What was given, as cached.
  Prepared* keep(std::unique_ptr<Prepared> made);

  void retain() { fetch_add(owner_->users_, 1U, std::memory_order_relaxed); }
  void release();

 private:
  ~Communicator();

  MPI_Comm handle_;  // the program's
  job::MemberContexts numbers_;
  std::shared_ptr<job::ChildContexts> children_;
  std::shared_ptr<const lanes::Placement> placement_;
  bool by_wire_ = false;            // all messages between its nodes go by wire
  Communicator* origin_ = nullptr;  // of a sibling; retained
  struct Part {
    void operator()(Communicator* part) const { delete part; }
  };
  std::unique_ptr<Communicator, Part> chained_;
  Communicator* owner_ = this;  // who counts the users
  KernelPartHolder kernel_part_;
  bool kernel_wanted_ = true;
  std::atomic<std::uint32_t> users_{1};  // the handle's own until it is freed
  std::atomic<bool> freed_{false};       // with users; the handle is not used any more
  KeptErrorHandler handler_ = 0;         // constant then

  std::once_flag neighbours_read_;
  std::optional<Neighbours> neighbours_;

  SpinLock lock_;
  std::vector<std::unique_ptr<Prepared>> cache_ URAKATA_GUARDED_BY(lock_);
  std::uint64_t uses_ URAKATA_GUARDED_BY(lock_) = 0;
};

// The communicator of a handle whose non-blocking collectives Urakata handles; nullptr where they are the MPI
// library's: not known (shim/communicators/communicator_origin.hpp), of one rank, of ranks whose options differ,
// without a context, or switched to engine `native`.
Communicator* communicator(MPI_Comm handle);

// Calls the error handler of the communicator (nullptr: of MPI_COMM_WORLD); returns `code`.
int complain(const Communicator* communicator_of, int code);

// MPI_Comm_free or MPI_Comm_disconnect is about to free the handle. What is known of it stays until then.
void before_forget(MPI_Comm handle);
// The MPI library's call comes now: only this thread finds what is known until forget_communicator() or
// restore_communicator().
void withdraw_communicator(MPI_Comm handle);
// The MPI library has refused.
void restore_communicator(MPI_Comm handle);
// MPI_Comm_free or MPI_Comm_disconnect has freed the handle.
void forget_communicator(MPI_Comm handle);

// Chooses the engine of a communicator by name ("native", "poll", "thread", "kernel"; empty: as it is). Collective:
// engine native or kernel is for all ranks or for none, and where one rank fails, nothing changes on any. `pending`:
// this one fails since operations are pending.
Status choose_engine(MPI_Comm handle, std::string_view name, bool* pending);

// Is a non-blocking collective pending on the communicator?
bool pending_on(MPI_Comm handle);
// Waits until none is, for MPI_Comm_disconnect.
void drain(MPI_Comm handle);

}  // namespace urakata::shim
