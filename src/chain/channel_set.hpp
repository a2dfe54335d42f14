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
// Leaving. Ranks give a communicator up one after the other, while those that stay may still wait for each other by the
// communicator's channel. Who leaves says so by a byte of TCP's urgent data (RFC 6093), which is no part of the stream
// that operations read: a connection that ends behind it is no failure. Where a firewall takes that mark away the byte
// is one more at the end of the stream, and its sender counts as lost, by those who wait for him.
//
// Thread-safety: start() and reap() by one thread at a time, who owns the engine's domain; the rest by anyone.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "chain/chained_schedule.hpp"
#include "chain/ring.hpp"

namespace urakata::chain {

class Submitter;

class ChannelSet {
 public:
  struct Peer {
    int socket = -1;        // blocking, connected; the channel set's from now on. -1: the rank itself
    std::int32_t rank = 0;  // of MPI_COMM_WORLD, for messages to the user
  };
  // `peers`: by rank of the group. `context`: the communicator's own number. `submitter` outlives the channel set.
  static Result<std::unique_ptr<ChannelSet>> open(std::vector<Peer> peers, std::int32_t context, Submitter& submitter,
                                                  std::uint64_t timeout_ns);
  ~ChannelSet();
  ChannelSet(const ChannelSet&) = delete;
  ChannelSet& operator=(const ChannelSet&) = delete;

  std::int32_t context() const { return context_; }
  int descriptor() const { return readiness_; }  // readable while there is something to reap
  std::size_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  bool broken() const { return broken_; }
  // May something have ended that was not reaped? Without a call or a lock.
  bool readiness() const {
    if (broken()) return true;
    const std::size_t count = rings_made_.load(std::memory_order_acquire);
    return std::ranges::any_of(std::span(rings_).first(count), [](const Served& one) { return one.ring->readiness(); });
  }

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

  // Each has twice the room of the one before it, at least: 512 to 32768 requests.
  static constexpr std::size_t kMostRings = 7;

  struct Operation {
    const ChainedSchedule* schedule = nullptr;
    void* whose = nullptr;  // nullptr: the record is free
    std::vector<std::byte*> buffers = {};
    std::vector<int> gates = {};
    std::size_t left = 0;  // requests that have not ended
    bool failed = false;
    bool submitted = false;
    // Gates between operations, made when they are first needed; -1: there is none.
    int ended = -1;            // signalled at the end of each chain, for the operation behind this one
    int begun = -1;            // of several chains behind another operation: the first signals it, the others wait
    bool signals = false;      // `ended`
    bool followed = false;     // by one that waits at `ended`
    std::uint64_t others = 0;  // chains beside the first: what `begun` is signalled by
  };
  // Rings that have become too small stay, since what they hold may not have ended.
  struct Served {
    std::unique_ptr<Ring> ring;
    std::size_t pending = 0;  // requests that were not reaped
  };

  ChannelSet(std::vector<Peer> peers, std::int32_t context, Submitter& submitter, std::uint64_t timeout_ns)
      : context_(context), timeout_ns_(timeout_ns), submitter_(submitter), peers_(std::move(peers)) {}

  Served& newest() { return rings_[rings_made_.load(std::memory_order_relaxed) - 1]; }
  Status add_ring(std::size_t requests);
  Status make_room(std::size_t requests);
  Operation* free_operation(const ChainedSchedule& schedule);
  std::size_t next_to_submit() const;
  bool may_follow(Operation& operation);
  void submit(bool handed_over);
  void give_to_kernel(std::size_t number);
  std::size_t requests_of(const Operation& operation, const Operation* before) const;
  void put(std::size_t number, const Operation* before);
  void put_entry(std::size_t number, std::size_t at);
  void take(const Ring::Outcome& outcome, std::vector<Done>& done);
  void end(Operation& operation, std::vector<Done>& done);
  void shut();
  void check_peers();
  void tell(const Operation& operation, std::size_t at, std::int32_t value);

  // Constant once open() has ended.
  const std::int32_t context_;
  const std::uint64_t timeout_ns_;
  Submitter& submitter_;
  const std::vector<Peer> peers_;
  int readiness_ = -1;  // an epoll set of the rings

  // Stored under the lock, loaded by anyone.
  std::atomic<bool> broken_{false};
  std::atomic<std::size_t> rings_made_{0};  // release and acquire: rings of which the pointers are there
  std::atomic<std::size_t> in_flight_{0};

  // Under the lock, since the submitter's thread uses it as well.
  std::mutex lock_;
  std::array<Served, kMostRings> rings_;                // the last is the one for new operations
  std::vector<std::unique_ptr<Operation>> operations_;  // by number, which the requests' numbers hold
  Operation* last_ = nullptr;                           // that was submitted; nullptr: the kernel has none
  std::size_t submitted_ = 0;                           // operations that the kernel has
  bool no_larger_ring_ = false;                         // the kernel has refused one
  bool shut_ = false;
  bool left_ = false;              // by leave()
  std::uint64_t others_left_ = 0;  // as check_peers() has found
  std::size_t handed_over_ = 0;    // operations that the submitter has not submitted yet
  std::vector<unsigned> silent_;   // checks in a row at which a peer was silent
  std::uint64_t next_check_ns_ = 0;
  unsigned reaps_ = 0;

  // By the kernel, while requests are in flight: what messages without payload, and gates, move.
  std::uint64_t token_in_ = 0, token_out_ = 0, signal_ = 1;
};

}  // namespace urakata::chain
