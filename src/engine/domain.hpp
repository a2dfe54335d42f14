// SPDX-License-Identifier: BSD-3-Clause
// A progress domain: instances, the transport that carries their messages, and the one who runs them at the moment.
//
// The thread that holds the domain (a caller inside MPI, a progress thread) runs it; others leave their instances in
// its queue and go (docs/design/decisions/0021-one-owner-per-domain.md). Several domains run in parallel and share
// nothing.
//
// Failures. A group breaks when one of its instances fails, or when a notice of another rank comes. Then its active and
// later instances end with an error, except those whose messages have all come. Each gives up what it has posted, so
// that nothing writes into its buffers once its outcome is there. It tells the ranks that it exchanges messages with
// (transport/failures.hpp); some tell all members (Instance::tells_all).
//
// Thread-safety: begin(), advance(), disown() and transport() by the owner only, all else by any thread.
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
      : transport_(std::move(transport)), descriptors_(transport_->descriptors()), notices_(transport_->failures()) {}

  transport::Transport& transport() { return *transport_; }
  // File descriptors that are readable while the transport has something to do (Transport::descriptors()).
  const std::vector<int>& descriptors() const { return descriptors_; }
  // What can wake a thread that sleeps until there is something to do here.
  Wakeup wakeup() const {
    return waits_for_descriptors() ? Wakeup::descriptors : network_only() ? Wakeup::sockets : Wakeup::none;
  }
  // Whether nothing was left to do, when the domain was last advanced, until one of descriptors() is readable.
  bool waits_for_descriptors() const { return waits_for_descriptors_.load(std::memory_order_relaxed); }

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

  // Bytes that a step may copy or reduce: under 20 us, also on a slow core.
  static constexpr std::int64_t kStepBytes = 32 * 1024;
  // The same for a step of a caller that waits and has nothing better to do. It polls the MPI library less often, but
  // not so rarely that a message under way has to wait for it.
  static constexpr std::int64_t kWaitBytes = 256 * 1024;

  // One step: takes in what was submitted, polls the transport once, runs what is ready, computing on about `bytes` (0:
  // on nothing). `caller`: run by a thread of the program inside an MPI call. A progress thread only takes in what was
  // submitted while an instance is here that only callers may run. Returns how many messages finished, and one more for
  // anything else that moved.
  unsigned advance(bool caller, std::int64_t bytes = kStepBytes);

  // Reasons to advance: instances submitted and not finished, and the two further ones of PendingCount.
  std::uint32_t pending() const { return pending_.all(); }

  // Whether an instance is submitted and not finished.
  bool unfinished() const { return pending_.unfinished(); }

  // Whether something is pending, and a socket tells of the end of all of it. Then a thread may sleep until the network
  // is ready. False as soon as one pending instance may get messages through shared memory, has an executor that tells
  // nobody, or after a failure while notices of other ranks may come.
  bool network_only() const { return pending_.network_only(); }

 private:
  // Silent: its group has ranks that share memory, or its executor tells nobody of its end.
  static PendingCount::Weight weight(const Instance& instance) {
    const bool by_socket = instance.group->all_remote && (instance.executor == nullptr || instance.executor->tells());
    return {.all = 1, .silent = by_socket ? 0U : 1U};
  }
  static PendingCount::Weight weight(Starts starts);

  void begin_taken();
  void take_in();
  void take_in(Instance& instance);
  void note_waiting() {
    if (descriptors_.empty()) return;
    waits_for_descriptors_.store(
        waiting_.front() == nullptr && runnable_ == 0 && transport_->wakeup() == Wakeup::descriptors,
        std::memory_order_relaxed);
  }
  bool admit();
  void end_broken();
  void run(Instance& instance, Budget& budget);
  void finish(Instance& instance);

  // touched by anyone
  alignas(64) std::atomic<bool> owned_{false};
  Submissions submissions_;
  std::atomic<bool> waits_for_descriptors_{false};  // written by the owner
  PendingCount pending_;

  // by the owner
  alignas(64) std::unique_ptr<transport::Transport> transport_;
  const std::vector<int> descriptors_;
  InstanceList waiting_;  // submitted, not yet activated: their group has too many active
  InstanceList active_;
  std::uint32_t callers_only_ = 0;  // in waiting_ and active_: those that no progress thread may run
  std::uint32_t runnable_ = 0;      // active instances that can go on without a message
  bool broken_ = false;             // a group has just failed: others of its instances may be active
  SeenNotices notices_;
};

}  // namespace urakata::engine
