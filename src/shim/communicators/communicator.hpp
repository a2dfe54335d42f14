// SPDX-License-Identifier: BSD-3-Clause
// What the shim knows of a communicator: the group, its contexts in the tags, its engine, its prepared collectives.
//
// A Communicator lives from the first call of communicator() for its handle: in a collective, in choose_engine(), or
// for a schedule of urakata.h. It ends when the handle is freed and the last operation on it is finished. Messages
// travel on one private duplicate of MPI_COMM_WORLD (see transport/group.hpp).
//
// Thread-safety: communicator(), complain(), cached(), keep(), neighbours(), quiet() and retain() by any thread of the
// program, release() also by progress threads; the rest as MPI says of the calls that they stand for.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "base/threads.hpp"
#include "direct/direct_collectives.hpp"
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
  // `numbers` has a context, or is not known: for a kernel part, which only the constructor itself makes.
  Communicator(MPI_Comm handle, std::vector<std::int32_t> world_ranks, std::uint32_t own_rank,
               job::MemberContexts numbers, std::shared_ptr<job::ChildContexts> children,
               KernelPartHolder kernel_part = nullptr,
               std::unique_ptr<direct::Collectives> direct_collectives = nullptr);

  // A communicator of the same group with a context of its own, for one persistent collective or one schedule of
  // urakata.h. Ranks may start these in different orders, so they cannot share a sequence. The caller gets a reference.
  // The sibling retains this communicator, which has the schedules. Collective. nullptr, on all ranks alike: there is
  // no room for its context.
  Communicator* sibling();

  // Where errors of operations on the communicator go, also after the program has freed it.
  ErrorTarget error_target() const;
  // The program is about to free the handle: keeps the error handler if there are other users.
  void before_free();
  // The program has freed the handle: gives up the handle's reference.
  void close();
  engine::Engine* engine = nullptr;  // constant while an operation is pending

  // The number that a member has for this communicator's endpoint communicator, and for no other one ever.
  std::uint32_t number_at(std::uint32_t member) const { return numbers_.endpoint_comm_of(world[member]); }
  bool channels_refused = false;  // whether a rank has refused a neighbourhood channel (channel_agreement.hpp)

  // The kernel part: it stands for those operations on this communicator that the kernel runs, with a sequence and an
  // engine of its own. It lives as long as this. nullptr: the kernel runs none, since there is no kernel part or
  // another engine was chosen.
  Communicator* by_kernel() { return kernel_wanted_ ? chained_.get() : nullptr; }
  bool has_kernel_part() const { return chained_ != nullptr; }
  void want_kernel(bool wanted) { kernel_wanted_ = wanted; }
  engine::KernelPart* kernel_part() const { return kernel_part_.get(); }  // of a kernel part; nullptr of all others
  // Whether every operation that was started is finished, also in the kernel part.
  bool quiet() const {
    return idle() && (chained_ == nullptr || chained_->idle()) && (direct_ == nullptr || direct_->nonblocking().idle());
  }

  tune::Medium medium() const;

  // Collectives on the ranks' own buffers; nullptr: there are none.
  direct::Collectives* direct_collectives() const { return direct_.get(); }

  // At which sites its ranks are; nullptr: all are at one site.
  const lanes::Placement* placement() const { return placement_.get(); }

  // This rank's neighbours in the communicator's topology; nullptr: the communicator has no topology.
  const Neighbours* neighbours();

  // The prepared collective of this key and these blocks; nullptr: none is kept. It belongs to the communicator.
  Prepared* cached(const Key& key, std::span<const std::uint64_t> blocks);
  // Keeps a collective that is not cached yet, and returns it. If many are kept, it replaces the idle one that was used
  // least recently.
  Prepared* keep(std::unique_ptr<Prepared> made);

  void retain() { fetch_add(owner_->users_, 1U, std::memory_order_relaxed); }
  void release();

 private:
  ~Communicator();

  MPI_Comm handle_;  // the program's
  job::MemberContexts numbers_;
  std::shared_ptr<job::ChildContexts> children_;
  std::shared_ptr<const lanes::Placement> placement_;
  bool by_wire_ = false;            // whether all messages between its nodes go by wire
  Communicator* origin_ = nullptr;  // of a sibling: the communicator that made it; retained
  struct Part {
    void operator()(Communicator* part) const { delete part; }
  };
  std::unique_ptr<Communicator, Part> chained_;
  Communicator* owner_ = this;  // the one that counts the users: of a kernel part, its communicator
  KernelPartHolder kernel_part_;
  bool kernel_wanted_ = true;
  std::unique_ptr<direct::Collectives> direct_;
  std::atomic<std::uint32_t> users_{1};  // references; one is the handle's until it is freed
  std::atomic<bool> freed_{false};       // whether the program has freed the handle, which must not be used then
  KeptErrorHandler handler_ = 0;         // constant once freed_ is true

  std::once_flag neighbours_read_;
  std::optional<Neighbours> neighbours_;

  SpinLock lock_;
  std::vector<std::unique_ptr<Prepared>> cache_ URAKATA_GUARDED_BY(lock_);
  std::uint64_t uses_ URAKATA_GUARDED_BY(lock_) = 0;
};

// Our record of a communicator whose collectives Urakata handles. nullptr: they fall back, since the communicator is
// not known (shim/communicators/communicator_origin.hpp), has one rank, ranks whose options differ, or no context, or
// was switched to engine `native`.
Communicator* communicator(MPI_Comm handle);

// Calls the error handler of the communicator (nullptr: of MPI_COMM_WORLD); returns `code`.
int complain(const Communicator* communicator_of, int code);

// MPI_Comm_free or MPI_Comm_disconnect is about to free the handle. What is known of the handle stays.
void before_forget(MPI_Comm handle);
// The MPI library's call comes now: until forget_communicator() or restore_communicator(), only this thread finds what
// is known of the handle.
void withdraw_communicator(MPI_Comm handle);
// The MPI library has refused to free the handle: undoes withdraw_communicator().
void restore_communicator(MPI_Comm handle);
// MPI_Comm_free or MPI_Comm_disconnect has freed the handle.
void forget_communicator(MPI_Comm handle);

// Chooses the engine of a communicator by name ("native", "poll", "thread", "kernel"; empty: as it is). Collective:
// engine native or kernel is for all ranks or for none, and if one rank fails, nothing changes on any rank. `*pending`:
// whether this rank fails because operations are pending.
Status choose_engine(MPI_Comm handle, std::string_view name, bool* pending);

// Whether a collective that is not persistent, and runs as a schedule or by the kernel, is pending on the communicator.
bool pending_on(MPI_Comm handle);
// Makes progress until pending_on() is false. For MPI_Comm_disconnect.
void drain(MPI_Comm handle);

}  // namespace urakata::shim
