// SPDX-License-Identifier: BSD-3-Clause
// A channel set: what a communicator's operations need that the kernel runs, and nothing else uses: a connection to
// each other rank, and a ring.
//
// Operations use the connections one after the other, in the order of their starts, which is the same on all ranks.
// One that is started while others are under way is submitted behind them and waits in the kernel, by a gate, for the
// end of the last: so what has been started goes on without a call. (A ring serves one channel set, so operations of
// other communicators do not stand in its way.) The kernel is given so many operations and requests at once; what is
// started beyond that waits here, for a call.
//
// Who starts. Requests go on in the time of the thread that submitted them, and are cancelled when it ends. So those
// that the program's main thread starts are submitted by itself; what others start is submitted by a thread of ours,
// which sleeps in between. All of it meets in one order on the same connections, so which thread it was is no rank's
// affair but its own.
//
// Failure. A request that ends with an error or with fewer bytes than it was to move, a peer that does not answer for
// the timeout: all connections are shut down and the channel set is broken. Every operation that has not ended by then
// ends with an error, as do all that come later; peers see their connections end and do likewise. Bytes that have come
// and were not read are thrown away, so that no operation takes those of one before it. Buffers are in use until an
// operation's end is told.
//
// Parts: peer_connections.hpp has the connections and how ranks leave, rings.hpp the rings, operation_queue.hpp the
// order of operations, request_writer.hpp what the kernel is given of each.
//
// Thread-safety: start() and reap() by one thread at a time, who owns the engine's domain; the rest by anyone.
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
  // `peers`: by rank of the group. `context`: the communicator's own number. `submitter` outlives the channel set.
  static Result<std::unique_ptr<ChannelSet>> open(std::vector<Peer> peers, std::int32_t context, Submitter& submitter,
                                                  std::uint64_t timeout_ns);
  ~ChannelSet();
  ChannelSet(const ChannelSet&) = delete;
  ChannelSet& operator=(const ChannelSet&) = delete;

  std::int32_t context() const { return context_; }
  int descriptor() const { return rings_.descriptor(); }  // readable while there is something to reap
  std::size_t in_flight() const { return operations_.in_flight(); }
  bool broken() const { return broken_; }
  // May something have ended that was not reaped? Without a call or a lock.
  bool can_progress() const { return broken() || rings_.can_progress(); }

  // Begins an operation; false: the channel set is broken, or becomes so. `buffers`: the address of each of the
  // schedule's buffers. Schedule and buffers stay until the end is told, with `whose`. Allocates nothing once as many
  // operations have been in flight before, with as many gates and entries.
  bool start(const ChainedSchedule& schedule, std::span<std::byte* const> buffers, void* whose);

  struct Done {
    void* whose = nullptr;
    bool failed = false;
  };
  // Appends the operations that have ended.
  void reap(std::vector<Done>& done);
  // Breaks it: nothing more comes, and what is in flight ends soon.
  void discard();
  bool runs(const void* whose);  // is it in flight here?
  // For when no request is in flight, which would tell it: whose connection has ended? The result are those who have
  // left, as bits by rank of the group; where one of `waited_for`, likewise, has ended otherwise the channel set
  // breaks. At most two calls of the system for each peer.
  std::uint64_t check_peers(std::uint64_t waited_for);
  // Tells the others that this rank will do nothing more here. Nothing is in flight, and nothing follows; said once at
  // most, and not where the channel set is broken. Does not wait.
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

  std::atomic<bool> broken_{false};  // stored under the lock, loaded by anyone

  // Under the lock, since the submitter's thread uses it as well. The order is that of destruction, from the last on: the
  // rings go before what their requests name.
  Mutex lock_;
  OperationQueue operations_;
  PeerConnections peers_;
  Rings rings_;
  RequestWriter requests_ URAKATA_GUARDED_BY(lock_);
  // Operations that the submitter has not submitted yet.
  std::size_t handed_over_ URAKATA_GUARDED_BY(lock_) = 0;
  unsigned reaps_ URAKATA_GUARDED_BY(lock_) = 0;
};

}  // namespace urakata::chain
