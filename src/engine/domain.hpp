// SPDX-License-Identifier: BSD-3-Clause
// A progress domain: instances, and the transport that carries their messages. One thread at a time owns the domain.
//
// The owner (a caller inside MPI, or a progress thread) runs the instances. Other threads put their instances into the
// domain's queue and return (docs/design/decisions/0021-one-owner-per-domain.md). Several domains run in parallel and
// share nothing.
//
// Failures. A group breaks when one of its instances fails, or when a notice of another rank comes. Then its active and
// later instances end with an error, except those whose graph has finished. Each failed instance gives up the
// messages that it has posted, so that nothing writes into its buffers once its outcome is set. It tells the ranks that
// it exchanges messages with (transport/failures.hpp), or all members (Instance::tells_all).
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
  // Puts instances into the queue, for the next owner to run. An owner finds all of them or none. No lock, no
  // allocation, no system call.
  void submit(Starts starts);
  void submit(Instance& instance) {
    pending_.add(weight(instance));
    submissions_.push(instance, instance);
  }
  // Starts instances for the owner: posts their first messages, and those of all instances in the queue. Does not poll
  // the transport. An instance copies, reduces and packs at most 1 KiB; one with an executor packs everything.
  void begin(Starts starts);
  void begin(Instance& instance);

  bool try_own() {
    return !owned_.load(std::memory_order_relaxed) && !exchange(owned_, true, std::memory_order_acquire);
  }
  void disown() { owned_.store(false, std::memory_order_release); }

  // Bytes that a step may copy or reduce: under 20 us, also on a slow core.
  static constexpr std::int64_t kStepBytes = 32 * 1024;
  // Bytes that a step of a waiting caller may copy or reduce. With longer steps the caller polls the MPI library less
  // often, but not so rarely that a message under way has to wait for a poll.
  static constexpr std::int64_t kWaitBytes = 256 * 1024;

  // One step: takes in the submitted instances, polls the transport once, and runs the instances that are ready. They
  // copy, reduce and pack about `bytes` bytes; 0: only as much as begin() allows for a new instance. `caller`: a thread
  // of the program inside an MPI call is the owner. Without it, the step only takes in the submitted instances while
  // the domain has an instance that only callers may run (Instance::callers_only). Returns the number of messages that
  // finished, plus one if anything else moved.
  unsigned advance(bool caller, std::int64_t bytes = kStepBytes);

  // Number of reasons to advance: instances submitted and not finished, and the two further entries of PendingCount.
  std::uint32_t pending() const { return pending_.all(); }

  // Whether an instance is submitted and not finished; see PendingCount::unfinished().
  bool unfinished() const { return pending_.unfinished(); }

  // Whether something is pending, and a socket tells of the end of all of it. Then a thread may sleep until the network
  // is ready. False while a pending instance may get messages through shared memory or has an executor that no
  // descriptor reports on, and, after a failure, while notices of other ranks may come.
  bool network_only() const { return pending_.network_only(); }

 private:
  // Weight::silent is 1 if the group may have ranks that share memory, or no descriptor tells of the executor's end.
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

  // touched by any thread
  alignas(64) std::atomic<bool> owned_{false};
  Submissions submissions_;
  std::atomic<bool> waits_for_descriptors_{false};  // written by the owner
  PendingCount pending_;

  // touched by the owner only; descriptors_ is constant and read by any thread
  alignas(64) std::unique_ptr<transport::Transport> transport_;
  const std::vector<int> descriptors_;
  InstanceList waiting_;  // taken in, not yet activated: their group has too many active instances
  InstanceList active_;
  std::uint32_t callers_only_ = 0;  // instances in waiting_ and active_ that no progress thread may run
  std::uint32_t runnable_ = 0;      // active instances that can go on without a message
  bool broken_ = false;             // whether a group failed, or notices came, since the last end_broken()
  SeenNotices notices_;
};

}  // namespace urakata::engine
