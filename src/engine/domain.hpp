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
#include <vector>

#include "base/threads.hpp"
#include "engine/instance.hpp"
#include "transport/transport.hpp"

namespace urakata::engine {

class Domain {
 public:
  explicit Domain(std::unique_ptr<transport::Transport> transport)
      : transport_(std::move(transport)), readiness_(transport_->readiness()), failures_(transport_->failures()) {}

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
  void submit(Instance& instance) { push(instance, instance, weight(instance)); }
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

  // Instances submitted and not finished. seq_cst: what a progress thread that announced its sleep sees here is in one
  // order with submit and the load of such an announcement after it.
  std::uint32_t pending() const { return static_cast<std::uint32_t>(pending_.load(std::memory_order_seq_cst)); }

  // The same without what stands for none, so that the domain is advanced: one after a failure, as long as others may
  // still tell of theirs, and one while the transport may have to send again what has finished.
  bool unfinished() const {
    return pending() > (listening_.load(std::memory_order_relaxed) ? 1U : 0U) +
                           (flushing_.load(std::memory_order_relaxed) ? 1U : 0U);
  }

  // Is something pending whose messages all come over the network? Then whoever has nothing to do may sleep until the
  // network is ready. False as soon as one pending instance may get messages through shared memory, which tells nobody.
  bool network_only() const {
    const std::uint64_t count = pending_.load(std::memory_order_seq_cst);
    return count != 0 && count < kThroughMemory;
  }

 private:
  class List {
   public:
    Instance* front() const { return front_; }
    void push_back(Instance& instance);
    void remove(Instance& instance);

   private:
    Instance* front_ = nullptr;
    Instance* back_ = nullptr;
  };

  // What an instance adds to pending_: one, and another in the upper half where its group has ranks that share memory,
  // or nobody tells of its end.
  static constexpr std::uint64_t kThroughMemory = std::uint64_t{1} << 32U;
  static std::uint64_t weight(const Instance& instance) {
    const bool told = instance.group->all_remote && (instance.executor == nullptr || instance.executor->tells());
    return told ? 1 : kThroughMemory + 1;
  }

  static std::uint64_t weight(Starts starts);

  // A chain of instances by their `next`, from `last` to `first`, which weigh so much together.
  void push(Instance& first, Instance& last, std::uint64_t weight);
  void begin_taken();
  void take_in();
  void take_in(Instance& instance);
  void note_told() {
    if (readiness_.empty()) return;
    told_.store(waiting_.front() == nullptr && runnable_ == 0 && transport_->wakeup() == Wakeup::readiness,
                std::memory_order_relaxed);
  }
  bool admit();
  bool told_of(const transport::Group& group) const;
  void end_broken();
  void note_listening();
  void note_flushing();
  void run(Instance& instance, Budget& budget);
  void finish(Instance& instance);

  // touched by anyone
  alignas(64) std::atomic<bool> owned_{false};
  std::atomic<Instance*> inbox_{nullptr};  // newest first; release on push, acquire on take
  std::atomic<bool> told_{false};          // written by the owner
  std::atomic<bool> listening_{false};     // likewise
  std::atomic<bool> flushing_{false};      // likewise
  std::atomic<std::uint64_t> pending_{0};  // the weights of all that is pending

  // by the owner
  alignas(64) std::unique_ptr<transport::Transport> transport_;
  const std::vector<int> readiness_;
  List waiting_;  // submitted, not yet activated: their group has too many active
  List active_;
  std::uint32_t callers_only_ = 0;  // of both: while there are some, no progress thread moves anything
  std::uint32_t runnable_ = 0;      // active instances that can go on without a message
  bool broken_ = false;             // a group has just failed: others of its instances may be active
  const transport::Failures& failures_;
  std::vector<transport::Notice> notices_;  // those of failures_ that were seen here
};

}  // namespace urakata::engine
