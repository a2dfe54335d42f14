// SPDX-License-Identifier: BSD-3-Clause
// The time line of this process's MPI calls and messages, if the user asks for one (--timeline). The profile reports
// every noted call to the time line, except tests that found nothing complete. For calls that have succeeded it also
// reports their messages.
//
// A message is identified by its stream and its number in the stream (observe/call_events.hpp). Sender and receiver
// count alike without communication. A receive gets its number when it is posted, since messages match receives in that
// order. A receive with MPI_ANY_SOURCE or MPI_ANY_TAG gets its number when it has completed, since its stream is not
// known before. So numbers may be wrong if such a receive is open together with others of the same stream. Readers
// therefore compare bytes and times. The number of a cancelled receive belongs to no message, so the messages of its
// stream are no longer numbered.
//
// Memory grows with open receives and persistent requests, and with streams and communicators. Streams and
// communicators beyond kMost are not numbered. Functions may throw std::bad_alloc. Thread-safety: any thread may call
// all functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "observe/call_events.hpp"
#include "shim/native/abi.hpp"

namespace urakata::profile {

class TimeLine {
 public:
  explicit TimeLine(std::unique_ptr<observe::CallEvents> events) : events_(std::move(events)) {}

  // A call has ended. `record` is its number in the profile (CallProfile). All times are as now_ns().
  void called(std::uint32_t record, std::uint64_t begin, std::uint64_t end);
  // A call that is a collective has ended. `moves`: false if it has 0 bytes, so that no rank need wait for another one.
  void called(std::uint32_t record, std::uint64_t begin, std::uint64_t end, MPI_Comm collective, bool moves);

  struct Envelope {
    int peer;  // rank in `comm`, or MPI_ANY_SOURCE, MPI_PROC_NULL
    int tag;
    MPI_Comm comm;
  };
  // A call has sent a message, or has started the send. `time`: when the call began.
  void sent(const Envelope& to, std::uint64_t bytes, std::uint64_t time);
  // A call has received a message, or has matched it (MPI_Mprobe). `time`: when the call ended.
  void received(const Envelope& from, const MPI_Status& status, std::uint64_t time);

  // Calls that have made, or started, a request. `time`: when the call began.
  void posted(MPI_Request request, const Envelope& from);
  void prepared_receive(MPI_Request request, const Envelope& from);
  void prepared_send(MPI_Request request, const Envelope& to, std::uint64_t bytes);
  void started(MPI_Request request, std::uint64_t time);
  // The handle is free, or belongs to an operation that the time line does not record.
  void forget(MPI_Request request);
  void forget_members(MPI_Comm comm);  // the program frees the communicator

 private:
  friend class Completion;

  struct Members {
    std::uint32_t number = 0;         // CallEvent::communicator
    std::vector<std::int32_t> world;  // ranks in MPI_COMM_WORLD by rank; empty: intercommunicator, or ranks outside

    std::int32_t of(int rank) const;  // rank in MPI_COMM_WORLD; -1: the communicator has no such rank
  };
  struct Stream {
    std::uint32_t communicator;
    std::int32_t peer, tag;  // `peer`: rank in MPI_COMM_WORLD
    bool operator==(const Stream&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Stream& stream) const;
  };
  using Counts = std::unordered_map<Stream, std::uint32_t, Hash>;
  // A receive that is not complete, or a persistent request.
  struct Open {
    std::shared_ptr<const Members> members;
    int peer = 0, tag = 0;
    std::uint32_t number = 0;                               // number in the stream; 0: none yet
    bool send = false, persistent = false, active = false;  // active: a receive that is posted and not complete
    std::uint64_t bytes = 0;                                // payload of a send
  };
  static constexpr std::size_t kMost = 1U << 16U;              // entries of each of sent_, received_ and collectives_
  static constexpr std::uint32_t kClosed = ~std::uint32_t{0};  // count of a stream that is no longer numbered

  const std::shared_ptr<const Members>& members(MPI_Comm comm) URAKATA_REQUIRES(lock_);
  static std::uint32_t next(Counts& counts, const Stream& stream);
  void add_send(const Members& members, int peer, int tag, std::uint64_t bytes, std::uint64_t time)
      URAKATA_REQUIRES(lock_);
  void add_receive(const Open& open, const MPI_Status& status, std::uint64_t time) URAKATA_REQUIRES(lock_);
  void number(Open& open) URAKATA_REQUIRES(lock_);

  const std::unique_ptr<observe::CallEvents> events_;
  Mutex lock_;
  std::unordered_map<MPI_Comm, std::shared_ptr<const Members>> communicators_ URAKATA_GUARDED_BY(lock_);
  std::unordered_map<MPI_Request, Open> open_ URAKATA_GUARDED_BY(lock_);
  // Number of collectives so far, by Members::number.
  std::unordered_map<std::uint32_t, std::uint32_t> collectives_ URAKATA_GUARDED_BY(lock_);
  Counts sent_ URAKATA_GUARDED_BY(lock_);
  Counts received_ URAKATA_GUARDED_BY(lock_);
};

}  // namespace urakata::profile
