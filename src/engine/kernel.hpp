// SPDX-License-Identifier: BSD-3-Clause
// Engine `kernel`: whole operations are handed to the Linux kernel, which carries them on by itself
// (chain/channel_set.hpp).
//
// It runs instances whose schedule was compiled and whose group has a channel set, and small collectives of a group
// that has an offload (xdp/offload.hpp). What a domain is to other engines, who post message after message, is here
// only the order of starts and ends: the transport knows channel sets and offloads, and no messages.
// A start hands the operation over within the call, by the calling thread, since requests belong to the thread that
// submits them; so it waits for whoever polls the domain at the moment, which is for less than a step.
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.hpp"
#include "chain/channel_set.hpp"
#include "engine/engine.hpp"
#include "engine/executor.hpp"
#include "xdp/offload.hpp"

namespace urakata::engine {

// A schedule that was compiled, on its communicator's channel set.
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

// A small collective of an offload. `give` and `take`: the buffers of what it gives and of its result.
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

// What a communicator has of the kernel for itself. By one thread at a time.
struct KernelPart {
  ~KernelPart() { channel_set->leave(); }

  std::unique_ptr<chain::ChannelSet> channel_set;  // there is one
  std::unique_ptr<xdp::Offload> offload;           // nullptr: there is none

  // For when what is in flight tells of no peer's end: finds out who has left, and whether one who is waited for is
  // lost.
  void check_peers();
  // This rank starts no more operations on the communicator, and none is in flight. True: all other ranks have received
  // this rank's inputs, and know that it has left. False: some have not, so the part must stay.
  bool leave();
};

class ExecutorTransport final : public transport::Transport {
 public:
  explicit ExecutorTransport(const transport::Failures& failures);
  ~ExecutorTransport() override;
  ExecutorTransport(const ExecutorTransport&) = delete;
  ExecutorTransport& operator=(const ExecutorTransport&) = delete;

  // By any thread. A part that goes has nothing in flight.
  void add(KernelPart& part);
  void remove(KernelPart& part);
  static constexpr std::uint64_t kFarewell = 1'000'000'000;  // ns
  // Ends a part in which nothing is in flight, once all other ranks have received this rank's inputs. Waits for that
  // for `wait_ns` at most. A part that has not ended by then ends in a later call, in MPI_Finalize at the latest.
  // Meanwhile other threads may call all functions.
  void end(std::unique_ptr<KernelPart> part, std::uint64_t wait_ns);
  // MPI_Finalize: all parts leave, in which nothing is in flight. Waits for kFarewell at most.
  void leave();

  int send(const transport::Message& message, transport::Ticket ticket, bool* finished) override;
  int recv(const transport::Message& message, transport::Ticket ticket, bool* finished) override;
  std::span<const transport::Completion> poll() override;
  std::size_t in_flight() const override;
  std::size_t cancel(const void* instance) override;
  void tell(std::int32_t peer, const transport::Notice& notice) override;
  const transport::Failures& failures() const override { return failures_; }
  std::vector<int> descriptors() const override { return {epoll_}; }
  // What eBPF code computes tells nobody.
  Wakeup wakeup() const override;

 private:
  void discard_both(KernelPart& part) URAKATA_REQUIRES(lock_);
  void forget(KernelPart& part) URAKATA_REQUIRES(lock_);
  // Frees those parts given to end() that have no more to do: all such, or `part` alone. Returns whether `part` is
  // freed.
  bool end_now(const KernelPart* part, bool all);

  const transport::Failures& failures_;
  int epoll_;  // an epoll set of all channel sets
  mutable Mutex lock_;
  std::vector<KernelPart*> parts_ URAKATA_GUARDED_BY(lock_);
  std::vector<std::unique_ptr<KernelPart>> ended_ URAKATA_GUARDED_BY(lock_);  // which some still need
  std::vector<chain::ChannelSet::Done> done_;                                 // kept for their room
  std::vector<xdp::Offload::Done> small_done_;
  unsigned polls_ = 0;
  std::vector<transport::Completion> reported_;
};

class KernelEngine final : public Engine {
 public:
  // The domain's transport is the given one.
  KernelEngine(Domain& domain, ExecutorTransport& transport) : Engine(domain), transport_(transport) {}
  std::string_view name() const override { return "kernel"; }
  void start_all(Domain::Starts starts) override;
  void start_awaited(Instance& instance) override { start(instance); }
  ExecutorTransport& executors() { return transport_; }

 private:
  ExecutorTransport& transport_;
};

}  // namespace urakata::engine
