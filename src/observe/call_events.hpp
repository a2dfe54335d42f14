// SPDX-License-Identifier: BSD-3-Clause
// The time line of one rank's MPI calls: when each call began and ended, and which messages it sent and received. It is
// a mapped file, so it exists even if the rank is killed.
//
// The file of rank N, DIR/events-N.bin, in the machine's byte order: an EventFile, then a ring of `most` entries, of
// which the newest overwrite the oldest. Entry i is at index i % most.
//
// Thread-safety: add() by any thread at any time, without lock, allocation or system call. A reader of the file may
// find an entry half written while the rank runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace urakata::observe {

inline constexpr char kEventFileMark[] = "URAEVENT";
inline constexpr std::uint32_t kEventFileFormat = 1;  // raised when readers of the old format would fail

struct EventFile {
  char mark[8];
  std::uint32_t format;
  std::uint32_t rank, ranks;
  std::uint32_t most;                        // number of entries in the ring
  std::int64_t realtime_minus_monotonic_ns;  // see node.hpp
  std::atomic<std::uint64_t> added;          // number of entries ever added, overwritten ones included
};

enum class CallEventKind : std::uint8_t {
  call,
  collective,  // a call that is the `number`-th collective on its communicator
  send,        // the send of the `number`-th message of its stream
  receive      // the receive of the `number`-th message of its stream
};

// A stream is all messages from one rank to another with one tag on one communicator. Sender and receiver each number
// its messages from 1 in MPI's matching order. So both give a message the same number, except with some receives from
// any source or of any tag (profile/time_line.hpp).
struct CallEvent {
  // CLOCK_MONOTONIC, ns: when the call began; of a receive: when the call ended that found it finished.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;           // CLOCK_MONOTONIC, ns; of a send or receive: bytes of the message
  std::uint32_t record = 0;        // of a call: the number of its record in calls-N.bin (CallProfile)
  std::uint32_t communicator = 0;  // equal on all its ranks; 0: not known, or a collective that moves no bytes
  std::uint32_t number = 0;        // see CallEventKind; 0: none
  std::int32_t peer = 0;           // of a send or receive: the other rank in MPI_COMM_WORLD
  std::int32_t tag = 0;            // of a send or receive
  CallEventKind kind = CallEventKind::call;
};

class CallEvents {
 public:
  static constexpr std::uint32_t kMost = 1U << 14U;  // 640 KiB a rank: viewers can open those of 64 ranks

  // Creates the file of `rank`, in place of an old one, in a directory that exists. The error names path and reason.
  static Result<std::unique_ptr<CallEvents>> create(const std::string& directory, std::uint32_t rank,
                                                    std::uint32_t ranks);
  ~CallEvents();  // leaves the file
  CallEvents(const CallEvents&) = delete;
  CallEvents& operator=(const CallEvents&) = delete;

  void add(const CallEvent& event);

 private:
  // The five words: begin; end; record, communicator; number, peer; tag, thread (16 bits), kind. Lower bits come first.
  // Words are relaxed atomics, so two threads that write the same entry spoil that entry only.
  struct Entry {
    std::atomic<std::uint64_t> words[5];
  };
  explicit CallEvents(void* memory) : memory_(memory) {}
  EventFile& head() const { return *static_cast<EventFile*>(memory_); }
  Entry* entries() const { return reinterpret_cast<Entry*>(static_cast<char*>(memory_) + sizeof(EventFile)); }

  void* const memory_;
};

}  // namespace urakata::observe
