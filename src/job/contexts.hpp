// SPDX-License-Identifier: BSD-3-Clause
// The numbers by which communicators are told apart: contexts in the tags of collectives (transport/group.hpp), and
// the numbers of endpoint communicators in the envelopes of the program's own messages (p2p/slot.hpp).
//
// A number is chosen by the rank that receives, so each member must know all others' numbers. Nothing is exchanged for
// each communicator: the members of a communicator hold ready a *run* of numbers for what is made from it, and have
// told each other where theirs begins. All of them are in the call that makes a child (MPI_Comm_split and its kin, a
// persistent collective) and make such calls in one order, so the k-th child has the k-th number of the run on every
// rank; children of one split share a number, since no rank is in two of them. Only when a run is used up do its
// members exchange the next one, in such a call. MPI_COMM_WORLD's first run is fixed.
//
// Contexts are few and given back; where a member has no room the children get *none*, on all members alike.
// EndpointComms' numbers are never used twice: a message that nobody received may lie about longer than its
// communicator.
//
// Thread-safety: Contexts by any thread. ChildContexts by one thread at a time (calls that make communicators from the
// same one, or prepare collectives on it, must not overlap by MPI's own rules); an agreed ContextRun is constant.
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
  // `limit` numbers from 0 on, of which the first `taken` are.
  void reset(std::int32_t limit, std::int32_t taken);
  // The first free span of that length, else the longest there is; length 0: no number is free.
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
  std::vector<Start> starts;  // by rank; empty: `everywhere` holds for all ranks
  Start everywhere;
  std::int32_t length = 0;    // children that the run is for
  std::int32_t contexts = 0;  // of these, the first ones, that get a context

  const Start& of(std::int32_t world_rank) const;
};

// What a child has of a run: for each member its context, and its number for the endpoint communicator. While this
// lives the own context is this process's.
class MemberContexts {
 public:
  MemberContexts() = default;
  MemberContexts(std::shared_ptr<const ContextRun> run, std::int32_t index, Contexts& contexts, std::int32_t own_rank);
  MemberContexts(MemberContexts&& other) noexcept;
  MemberContexts& operator=(MemberContexts&& other) noexcept;
  ~MemberContexts() { give(); }

  // The context is not given to another communicator: messages of this one may still be under way.
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

// The contexts for what is made from one communicator.
class ChildContexts {
 public:
  ChildContexts(Contexts& contexts, std::int32_t own_rank) : contexts_(contexts), own_rank_(own_rank) {}
  ~ChildContexts() { drop(); }
  ChildContexts(const ChildContexts&) = delete;
  ChildContexts& operator=(const ChildContexts&) = delete;

  // MPI_COMM_WORLD's: the same numbers on all ranks, of which Contexts::reset has set aside the contexts. The first
  // are its own.
  void fix(std::int32_t contexts);
  bool used_up() const { return run_ == nullptr || next_ == run_->length; }
  // Collective over the members. False: the MPI library refuses.
  bool refill(Bootstrap& members);
  // Not where it is used up.
  MemberContexts next() { return {run_, next_++, contexts_, own_rank_}; }

  static constexpr std::int32_t kFixed = 64;  // length of MPI_COMM_WORLD's run

 private:
  void drop();  // gives back the contexts that no child has got

  Contexts& contexts_;
  std::int32_t own_rank_;
  std::shared_ptr<const ContextRun> run_;
  std::int32_t next_ = 0;
  std::int32_t length_ = 4;  // of the run before; each is twice as long, from 8 to 64
};

}  // namespace urakata::job
