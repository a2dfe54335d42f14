// SPDX-License-Identifier: BSD-3-Clause
// The numbers by which communicators are told apart: contexts in the tags of collectives (transport/group.hpp), and
// the numbers of endpoint communicators in the envelopes of the program's own messages (p2p/slot.hpp).
//
// The receiving rank chooses a number, so each member must know the numbers of all others. The members do not exchange
// numbers for each communicator. Instead, each member reserves a *run* of consecutive numbers for the children of the
// communicator, and has told the others where the run begins. A child is made by MPI_Comm_split and its kin, or is a
// persistent collective. All members take part in the call that makes a child, and make such calls in the same order.
// So the k-th child has the k-th number of the run on every rank. Children of one split share a number, since no rank
// is in two of them. When a run is used up, the next such call exchanges the beginning of a new one. MPI_COMM_WORLD's
// first run is fixed.
//
// Contexts are few and are given back. If a member has no free context, the child gets none, on all members alike.
// Numbers of endpoint communicators are never used twice: an unreceived message may outlive its communicator.
//
// Thread-safety: Contexts by any thread. ChildContexts by one thread at a time (calls that make communicators from the
// same one, or prepare collectives on it, must not overlap by MPI's own rules). An agreed ContextRun is constant.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.hpp"
#include "job/bootstrap.hpp"

namespace urakata::job {

// The contexts of this process.
class Contexts {
 public:
  struct Span {
    std::int32_t first = 0;
    std::int32_t length = 0;
  };
  // There are the numbers 0 to `limit` - 1, of which the first `taken` are in use.
  void reset(std::int32_t limit, std::int32_t taken);
  // Takes the first free span of that length, or else the longest free one; length 0: no number is free.
  Span take(std::int32_t length);
  void give(Span span);

 private:
  Mutex mutex_;
  std::vector<bool> taken_ URAKATA_GUARDED_BY(mutex_);
};

// Numbers that the members of a communicator have agreed on.
struct ContextRun {
  struct Start {
    std::int32_t rank = 0;  // of MPI_COMM_WORLD
    std::int32_t context = 0;
    std::uint32_t endpoint_comm = 0;
  };
  std::vector<Start> starts;  // of the members, sorted by rank; empty: `everywhere` holds for all ranks
  Start everywhere;
  std::int32_t length = 0;    // number of children that the run is for
  std::int32_t contexts = 0;  // number of children that get a context; they come first

  const Start& of(std::int32_t world_rank) const;
};

// The numbers of one child: for each member its context and its endpoint communicator's number. The destructor gives
// this process's context back to Contexts, which must outlive this object.
class MemberContexts {
 public:
  MemberContexts() = default;
  MemberContexts(std::shared_ptr<const ContextRun> run, std::int32_t index, Contexts& contexts, std::int32_t own_rank);
  MemberContexts(MemberContexts&& other) noexcept;
  MemberContexts& operator=(MemberContexts&& other) noexcept;
  ~MemberContexts() { give(); }

  // Keeps the context from ever being given back: messages that carry it may still be under way.
  void retire() { contexts_ = nullptr; }

  bool known() const { return run_ != nullptr; }
  bool has_context() const { return run_ != nullptr && index_ < run_->contexts; }
  std::int32_t context_of(std::int32_t world_rank) const { return run_->of(world_rank).context + index_; }
  std::uint32_t endpoint_comm_of(std::int32_t world_rank) const {
    return run_->of(world_rank).endpoint_comm + static_cast<std::uint32_t>(index_);
  }

 private:
  void give();

  std::shared_ptr<const ContextRun> run_;
  std::int32_t index_ = 0;
  std::int32_t own_ = 0;  // the own context
  Contexts* contexts_ = nullptr;
};

// The numbers for the children of one communicator.
class ChildContexts {
 public:
  ChildContexts(Contexts& contexts, std::int32_t own_rank) : contexts_(contexts), own_rank_(own_rank) {}
  ~ChildContexts() { drop(); }
  ChildContexts(const ChildContexts&) = delete;
  ChildContexts& operator=(const ChildContexts&) = delete;

  // Gives MPI_COMM_WORLD its first run, which has the same numbers on all ranks: `contexts` contexts, which
  // Contexts::reset() has marked as taken. The first numbers are MPI_COMM_WORLD's own.
  void fix(std::int32_t contexts);
  bool used_up() const { return run_ == nullptr || next_ == run_->length; }
  // Agrees on a new run and gives back the rest of the old one. Collective over the members. False: the MPI library
  // reports an error, and used_up() is true.
  bool refill(Bootstrap& members);
  // The numbers of the next child. Only if not used_up().
  MemberContexts next() { return {run_, next_++, contexts_, own_rank_}; }

  static constexpr std::int32_t kFixed = 64;  // length of MPI_COMM_WORLD's run

 private:
  void drop();  // gives back the contexts that no child has got

  Contexts& contexts_;
  std::int32_t own_rank_;
  std::shared_ptr<const ContextRun> run_;
  std::int32_t next_ = 0;
  std::int32_t length_ = 4;  // of the last run that refill() made; each is twice as long, from 8 to 64
};

}  // namespace urakata::job
