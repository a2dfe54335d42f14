// SPDX-License-Identifier: BSD-3-Clause
// A progress domain: instances, the transport that carries their messages, and the one who runs them at the moment.
//
// The thread that holds the domain (a caller inside MPI, a progress thread) runs it; others leave their instances in
// its queue and go (docs/design/decisions/0021-one-owner-per-domain.md). Several domains run in parallel and share
// nothing.
//
// Failures. An instance that fails, or whose group another rank's notice concerns, breaks its group: all of the group's
// instances end with an error, those that come later too. Each gives up what it has posted, so that nothing writes into
// its buffers once its outcome is there, and tells the ranks that it exchanges messages with (transport/failures.hpp).
//
// Thread-safety: submit, try_own, pending by anyone; begin and advance by the owner only.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "engine/instance.hpp"
#include "engine/instance_list.hpp"
#include "engine/pending_count.hpp"
#include "engine/seen_notices.hpp"
#include "engine/submissions.hpp"
#include "transport/transport.hpp"

namespace urakata::engine {

class Domain {
 public:
  explicit Domain(std::unique_ptr<transport::Transport> transport)
      : transport_(std::move(transport)), readiness_(transport_->readiness()), notices_(transport_->failures()) {}

  transport::Transport& transport() { return *transport_; }
  // The transport's; see there.
  const std::vector<int>& readiness() const { return readiness_; }
  // What tells of all that is pending.
  Wakeup wakeup() const { return told() ? Wakeup::readiness : network_only() ? Wakeup::sockets : Wakeup::none; }
  // When it was last advanced: was there nothing to do but wait for what readiness() tells?
  bool told() const { return told_.load(std::memory_order_relaxed); }

  // A list of prepared instances in the order of their starts.
  using Starts = std::span<Instance* const>;
  // Leaves them here; they are run by the next owner, who finds all of them or none. No lock, no allocation, no system
  // call.
  void submit(Starts starts);
  void submit(Instance& instance) {
    pending_.add(weight(instance));
    submissions_.push(instance, instance);
  }
  // The same by the owner, who posts their first messages and those of what else was submitted; polls nothing and
  // computes next to nothing.
  void begin(Starts starts);
  void begin(Instance& instance);

  bool try_own() {
    return !owned_.load(std::memory_order_relaxed) && !exchange(owned_, true, std::memory_order_acquire);
  }
  void disown() { owned_.store(false, std::memory_order_release); }

  // What a step may copy or add, in bytes: under 20 us, also on a slow core. A caller that waits has nothing better to
  // do, and polls the MPI library less often; but not so rarely that a message under way has to wait for it.
  static constexpr std::int64_t kStepBytes = 32 * 1024;
  static constexpr std::int64_t kWaitBytes = 256 * 1024;

  // One step: takes in what was submitted, polls the transport once, runs what is ready, computing on about `bytes` (0:
  // on nothing). `caller`: run by a thread of the program inside an MPI call. Returns how many messages finished, and
  // one more for anything else that moved.
  unsigned advance(bool caller, std::int64_t bytes = kStepBytes);

  // Instances submitted and not finished; see PendingCount::all().
  std::uint32_t pending() const { return pending_.all(); }

  // The same without what stands for none, so that the domain is advanced.
  bool unfinished() const { return pending_.unfinished(); }

  // Is something pending whose messages all come over the network? Then whoever has nothing to do may sleep until the
  // network is ready. False as soon as one pending instance may get messages through shared memory, which tells nobody.
  bool network_only() const { return pending_.network_only(); }

 private:
  // Silent: its group has ranks that share memory, or its executor tells nobody of its end.
  static PendingCount::Weight weight(const Instance& instance) {
    const bool told = instance.group->all_remote && (instance.executor == nullptr || instance.executor->tells());
    return {.all = 1, .silent = told ? 0U : 1U};
  }
  static PendingCount::Weight weight(Starts starts);

  void begin_taken();
  void take_in();
  void take_in(Instance& instance);
  void note_told() {
    if (readiness_.empty()) return;
    told_.store(waiting_.front() == nullptr && runnable_ == 0 && transport_->wakeup() == Wakeup::readiness,
                std::memory_order_relaxed);
  }
  bool admit();
  void end_broken();
  void run(Instance& instance, Budget& budget);
  void finish(Instance& instance);

  // touched by anyone
  alignas(64) std::atomic<bool> owned_{false};
  Submissions submissions_;
  std::atomic<bool> told_{false};  // written by the owner
  PendingCount pending_;

  // by the owner
  alignas(64) std::unique_ptr<transport::Transport> transport_;
  const std::vector<int> readiness_;
  InstanceList waiting_;  // submitted, not yet activated: their group has too many active
  InstanceList active_;
  std::uint32_t callers_only_ = 0;  // of both: while there are some, no progress thread moves anything
  std::uint32_t runnable_ = 0;      // active instances that can go on without a message
  bool broken_ = false;             // a group has just failed: others of its instances may be active
  SeenNotices notices_;
};

}  // namespace urakata::engine
