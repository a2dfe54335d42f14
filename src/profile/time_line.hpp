// SPDX-License-Identifier: BSD-3-Clause
// The time line of the process's MPI calls and messages, where one was asked for (--timeline): what the entry points
// tell of each call that has succeeded.
//
// A message is told apart by its stream and its number there (observe/call_events.hpp), on which both sides agree
// without a word. A receive is numbered when it is posted, since that is the order in which messages meet receives; one
// from any source, or of any tag, when it has ended, since only then its stream is known. So numbers may be off where a
// program has several receives open for one stream at a time and some are of that kind; readers look whether bytes and
// times agree. A receive that is cancelled has a number which no message has: its stream is numbered no further.
//
// Memory grows with the receives and persistent requests that are open, and with streams and communicators, of which
// those beyond kMost are not numbered. Thread-safety: by any thread.
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

  void called(std::uint32_t record, std::uint64_t begin, std::uint64_t end);
  // `moves`: false: it is one of no bytes, so nobody need wait for anybody in it.
  void called(std::uint32_t record, std::uint64_t begin, std::uint64_t end, MPI_Comm collective, bool moves);

  struct Envelope {
    int peer;  // rank of the communicator, or MPI_ANY_SOURCE, MPI_PROC_NULL
    int tag;
    MPI_Comm comm;
  };
  // `time`: when the call began.
  void sent(const Envelope& to, std::uint64_t bytes, std::uint64_t time);
  // Also in a matched probe, which takes the message. `time`: when the call ended.
  void received(const Envelope& from, const MPI_Status& status, std::uint64_t time);

  void posted(MPI_Request request, const Envelope& from);
  void prepared_receive(MPI_Request request, const Envelope& from);
  void prepared_send(MPI_Request request, const Envelope& to, std::uint64_t bytes);
  void started(MPI_Request request, std::uint64_t time);
  // Was perhaps a receive's, and is something else's now, or nobody's.
  void forget(MPI_Request request);
  void forget_members(MPI_Comm comm);

 private:
  friend class Completion;

  struct Members {
    std::uint32_t number = 0;         // CallEvent::communicator
    std::vector<std::int32_t> world;  // rank of MPI_COMM_WORLD by rank; empty: an intercommunicator

    std::int32_t of(int rank) const;  // -1: it has no such rank
  };
  struct Stream {
    std::uint32_t communicator;
    std::int32_t peer, tag;
    bool operator==(const Stream&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Stream& stream) const;
  };
  using Counts = std::unordered_map<Stream, std::uint32_t, Hash>;
  struct Open {
    std::shared_ptr<const Members> members;
    int peer = 0, tag = 0;
    std::uint32_t number = 0;  // 0: not yet
    bool send = false, persistent = false, active = false;
    std::uint64_t bytes = 0;  // of a send
  };
  static constexpr std::size_t kMost = 1U << 16U;
  static constexpr std::uint32_t kClosed = ~std::uint32_t{0};  // a stream that is numbered no further

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
  // By the communicator's number.
  std::unordered_map<std::uint32_t, std::uint32_t> collectives_ URAKATA_GUARDED_BY(lock_);
  Counts sent_ URAKATA_GUARDED_BY(lock_);
  Counts received_ URAKATA_GUARDED_BY(lock_);
};

}  // namespace urakata::profile
