// SPDX-License-Identifier: BSD-3-Clause
// Engine `kernel`: whole operations are handed to the Linux kernel, which progresses them by itself
// (chain/channel_set.hpp).
//
// The engine runs instances whose schedule was compiled and whose group has a channel set, and small collectives of a
// group that has an offload (xdp/offload.hpp). Its domain only keeps the order of starts and ends: the transport knows
// channel sets and offloads, and no messages. A start hands the operation over within the call, by the calling thread,
// since io_uring requests belong to the thread that submits them. So a start waits until it owns the domain, for less
// than a step.
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.hpp"
#include "chain/channel_set.hpp"
#include "engine/engine.hpp"
#include "engine/executor.hpp"
#include "xdp/offload.hpp"

namespace urakata::engine {

// A compiled schedule on its communicator's channel set; both must outlive this object.
class ChainedGraph final : public Executor {
 public:
  ChainedGraph() = default;
  ChainedGraph(chain::ChannelSet& channel_set, const chain::ChainedSchedule& schedule)
      : channel_set_(&channel_set), schedule_(&schedule) {}
  bool start(std::span<std::byte* const> buffers, void* instance) override {
    return channel_set_->start(*schedule_, buffers, instance);
  }
  bool can_progress() const override { return channel_set_->can_progress(); }
  bool tells() const override { return true; }
  std::uint64_t bytes() const override { return schedule_->bytes; }

 private:
  chain::ChannelSet* channel_set_ = nullptr;
  const chain::ChainedSchedule* schedule_ = nullptr;
};

// A small collective of an offload, which must outlive this object. `give`, `take`: the buffers of the rank's input and
// of its result.
class SmallCollective final : public Executor {
 public:
  SmallCollective() = default;
  SmallCollective(xdp::Offload& offload, const xdp::Offload::Work& work, schedule::BufferId give,
                  schedule::BufferId take)
      : offload_(&offload), work_(work), give_(give), take_(take) {}
  bool start(std::span<std::byte* const> buffers, void* instance) override {
    return offload_->start(work_, buffers[give_], buffers[take_], instance);
  }
  bool can_progress() const override { return offload_->can_progress(); }
  bool tells() const override { return false; }
  std::uint64_t bytes() const override { return URA_XDP_BYTES_OF(work_.form); }

 private:
  xdp::Offload* offload_ = nullptr;
  xdp::Offload::Work work_ = {};
  schedule::BufferId give_ = 0;
  schedule::BufferId take_ = 0;
};

// A communicator's channel set and offload. Used by one thread at a time.
struct KernelPart {
  ~KernelPart() { channel_set->leave(); }

  std::unique_ptr<chain::ChannelSet> channel_set;  // never nullptr
  std::unique_ptr<xdp::Offload> offload;           // nullptr: there is none

  // Finds out which peers have left the communicator, and breaks the channel set if a peer that the offload waits for
  // is lost: the offload itself does not notice. Only with an offload.
  void check_peers();
  // This rank starts no more operations on the communicator, and none is in flight. True: no rank needs this rank's
  // inputs any more, and the others are told that it has left. False: some do, so the part must stay.
  bool leave();
};

// Thread-safety: add(), remove(), end(), leave() and descriptors() by any thread; all else by the domain's owner.
class ExecutorTransport final : public transport::Transport {
 public:
  explicit ExecutorTransport(const transport::Failures& failures);
  ~ExecutorTransport() override;
  ExecutorTransport(const ExecutorTransport&) = delete;
  ExecutorTransport& operator=(const ExecutorTransport&) = delete;

  // From add() to remove() or end(), poll() looks after the part, which stays the caller's. remove(): nothing is in
  // flight in it.
  void add(KernelPart& part);
  void remove(KernelPart& part);
  static constexpr std::uint64_t kFarewell = 1'000'000'000;  // ns
  // Removes and destroys a part in which nothing is in flight, once all other ranks have received this rank's inputs.
  // Waits for that for at most `wait_ns`. A part that some rank still needs is destroyed in a later call, or with this
  // object.
  void end(std::unique_ptr<KernelPart> part, std::uint64_t wait_ns);
  // MPI_Finalize: this rank leaves all channel sets and offloads; nothing is in flight in them. Waits at most kFarewell
  // until the other ranks have received this rank's inputs.
  void leave();

  int send(const transport::Message& message, transport::Ticket ticket, bool* finished) override;
  int recv(const transport::Message& message, transport::Ticket ticket, bool* finished) override;
  std::span<const transport::Completion> poll() override;
  std::size_t in_flight() const override;
  std::size_t cancel(const void* instance) override;
  void tell(std::int32_t peer, const transport::Notice& notice) override;
  const transport::Failures& failures() const override { return failures_; }
  std::vector<int> descriptors() const override { return {epoll_}; }
  // Wakeup::none while an offload has operations in flight: no descriptor tells of their end.
  Wakeup wakeup() const override;

 private:
  void discard_both(KernelPart& part) URAKATA_REQUIRES(lock_);
  void forget(KernelPart& part) URAKATA_REQUIRES(lock_);
  // Destroys those parts given to end() whose inputs no rank needs any more: all such, or `part` alone. Returns whether
  // `part` is destroyed.
  bool end_now(const KernelPart* part, bool all);

  const transport::Failures& failures_;
  int epoll_;  // an epoll set of all channel sets
  mutable Mutex lock_;
  std::vector<KernelPart*> parts_ URAKATA_GUARDED_BY(lock_);
  std::vector<std::unique_ptr<KernelPart>> ended_ URAKATA_GUARDED_BY(lock_);  // given to end(), still needed by a rank
  std::vector<chain::ChannelSet::Done> done_;                                 // kept so that poll() need not allocate
  std::vector<xdp::Offload::Done> small_done_;
  unsigned polls_ = 0;
  std::vector<transport::Completion> reported_;
};

class KernelEngine final : public Engine {
 public:
  // `transport` is the domain's transport.
  KernelEngine(Domain& domain, ExecutorTransport& transport) : Engine(domain), transport_(transport) {}
  std::string_view name() const override { return "kernel"; }
  void start_all(Domain::Starts starts) override;
  void start_awaited(Instance& instance) override { start(instance); }
  ExecutorTransport& executors() { return transport_; }

 private:
  ExecutorTransport& transport_;
};

}  // namespace urakata::engine
