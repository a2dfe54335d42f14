// SPDX-License-Identifier: BSD-3-Clause
// A channel set: what one communicator needs for the operations that the kernel runs: a connection to each other rank,
// and io_urings. No other communicator uses them, so operations of other communicators are not in the way.
//
// Order. Operations use the connections one after the other, in the order of their starts, which is the same on all
// ranks. An operation that is started while others are under way is submitted at once, too. In the kernel it waits at a
// gate for the end of the operation before it. So started operations progress without a call. The kernel has a limited
// number of operations and requests at a time. Operations beyond it wait until a later start() or reap() submits them.
//
// Submitting threads. The kernel runs requests in the time of the thread that submitted them, and cancels them when
// that thread ends. So the thread that called MPI_Init submits in its own start() and reap(). For other threads a
// thread of ours submits (submitter.hpp). The order of operations is the same either way, so other ranks need not know.
//
// Failure. The channel set breaks if a request ends with an error or with too few bytes, if the kernel does not take
// all requests of an operation, or if a peer does not answer for the timeout. All connections are then shut down. Every
// operation that has not ended fails, and no further one can begin. The peers see their connections end, and their
// channel sets break, too. Bytes that have arrived and were not read are discarded, so that no operation receives those
// of an earlier one. Buffers are in use until reap() has reported the operation.
//
// Parts: peer_connections.hpp has the connections and how ranks leave, rings.hpp the rings, operation_queue.hpp the
// order of operations, request_writer.hpp the requests of each operation.
//
// Thread-safety: start() and reap() by one thread at a time, the owner of the engine's domain; the destructor when no
// other call is under way; all other functions by any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "chain/chained_operation.hpp"
#include "chain/chained_schedule.hpp"
#include "chain/operation_queue.hpp"
#include "chain/peer_connections.hpp"
#include "chain/request_writer.hpp"
#include "chain/rings.hpp"

namespace urakata::chain {

class Submitter;

class ChannelSet {
 public:
  // `peers`: by rank of the group; their sockets are closed with the channel set, or after an error. `context`: this
  // rank's number for the communicator. `submitter` outlives the channel set. Error: why there is no io_uring.
  static Result<std::unique_ptr<ChannelSet>> open(std::vector<Peer> peers, std::int32_t context, Submitter& submitter,
                                                  std::uint64_t timeout_ns);
  ~ChannelSet();
  ChannelSet(const ChannelSet&) = delete;
  ChannelSet& operator=(const ChannelSet&) = delete;

  std::int32_t context() const { return context_; }
  int descriptor() const { return rings_.descriptor(); }  // readable while a ring has results to reap
  std::size_t in_flight() const { return operations_.in_flight(); }
  bool broken() const { return broken_; }
  // Whether reap() may find operations that have ended. Makes no system call and takes no lock.
  bool can_progress() const { return broken() || rings_.can_progress(); }

  // Starts an operation. `buffers`: the address of each of the schedule's buffers. Schedule and buffers must stay until
  // reap() reports `whose`. False: the operation was not started, since the channel set is broken or no descriptor is
  // left for a gate; the caller must then discard() the channel set, since other ranks may have started the operation.
  // Allocates only where more operations, gates, buffers or requests are needed than ever before.
  bool start(const ChainedSchedule& schedule, std::span<std::byte* const> buffers, void* whose);

  struct Done {
    void* whose = nullptr;  // as start() was given it
    bool failed = false;
  };
  // Appends the operations that have ended, each once, and submits operations that wait. Does nothing while another
  // thread has the lock.
  void reap(std::vector<Done>& done);
  // Breaks the channel set. Operations in flight fail soon; reap() reports them.
  void discard();
  bool runs(const void* whose);  // whether an operation started with `whose` has not been reported
  // Finds connections that have ended while no request is in flight that would show it. Returns the ranks that have
  // left, as bits by rank of the group. If a rank of `waited_for` (also bits) has ended without leaving, the channel
  // set breaks. Makes at most two system calls for each peer.
  std::uint64_t check_peers(std::uint64_t waited_for);
  // Tells the peers that this rank starts no more operations. None may be in flight. Only the first call sends
  // anything, and none does if the channel set is broken. Does not wait.
  void leave();

 private:
  friend class Submitter;

  ChannelSet(std::vector<Peer> peers, std::int32_t context, Submitter& submitter, std::uint64_t timeout_ns)
      : context_(context), submitter_(submitter), peers_(std::move(peers), timeout_ns), requests_(peers_, rings_) {}

  void submit(bool handed_over);
  Status make_room(std::size_t requests) URAKATA_REQUIRES(lock_);
  void give_to_kernel(ChainedOperation& operation) URAKATA_REQUIRES(lock_);
  void take_ended(std::vector<Done>& done) URAKATA_REQUIRES(lock_);
  void take(const Ring::Outcome& outcome, std::vector<Done>& done) URAKATA_REQUIRES(lock_);
  void end(ChainedOperation& operation, std::vector<Done>& done) URAKATA_REQUIRES(lock_);
  void shut() URAKATA_REQUIRES(lock_);

  const std::int32_t context_;
  Submitter& submitter_;

  std::atomic<bool> broken_{false};  // stored under the lock, loaded by any thread

  // Under the lock, since the submitter's thread uses these, too. Members are destroyed from the last to the first, so
  // the rings end before the sockets and gates that their requests name.
  Mutex lock_;
  OperationQueue operations_;
  PeerConnections peers_;
  Rings rings_;
  RequestWriter requests_ URAKATA_GUARDED_BY(lock_);
  // Number of submit() calls that the submitter's thread has yet to make. While it is not 0, no other thread submits.
  std::size_t handed_over_ URAKATA_GUARDED_BY(lock_) = 0;
  unsigned reaps_ URAKATA_GUARDED_BY(lock_) = 0;
};

}  // namespace urakata::chain
