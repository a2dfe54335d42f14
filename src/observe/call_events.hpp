// SPDX-License-Identifier: BSD-3-Clause
// The time line of one rank's MPI calls: when each of them was, and which messages were sent and received in it, in a
// file that is mapped. So it is there also where the rank is killed.
//
// The file, DIR/events-N.bin, in the machine's byte order: an EventFile, then a ring of `most` entries, of which the
// newest overwrite the oldest: entry i is at i % most.
//
// Thread-safety: add() by any thread at any time; it takes no lock, no allocation and no system call. Who reads the
// file of a rank that runs may see an entry half overwritten.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace urakata::observe {

inline constexpr char kEventFileMark[] = "URAEVENT";
inline constexpr std::uint32_t kEventFileFormat = 1;  // raised when a reader of the old form would go wrong

struct EventFile {
  char mark[8];
  std::uint32_t format;
  std::uint32_t rank, ranks;
  std::uint32_t most;
  std::int64_t realtime_minus_monotonic_ns;
  std::atomic<std::uint64_t> added;  // entries, those that are overwritten among them
};

enum class CallEventKind : std::uint8_t {
  call,
  collective,  // a call that is the `number`-th collective on its communicator
  send,        // in a call that began at `begin`, of the `number`-th message of its stream
  receive      // likewise, in a call that ended then
};

// A stream is all messages from one rank to another with one tag on one communicator. Its messages are counted by
// either side in the order in which they are sent, and received: that is MPI's order.
struct CallEvent {
  std::uint64_t begin = 0;         // CLOCK_MONOTONIC, ns; of a receive: the end of the call that found it finished
  std::uint64_t end = 0;           // of messages: their bytes
  std::uint32_t record = 0;        // the call's in calls-N.bin (CallProfile)
  std::uint32_t communicator = 0;  // the same on all its ranks; 0: not known, or a collective of no bytes
  std::uint32_t number = 0;
  std::int32_t peer = 0;  // of messages: rank of MPI_COMM_WORLD
  std::int32_t tag = 0;
  CallEventKind kind = CallEventKind::call;
};

class CallEvents {
 public:
  static constexpr std::uint32_t kMost = 1U << 14U;  // 640 KiB a rank; of 64 ranks viewers open them all

  // The directory is there. The error names the path and the reason.
  static Result<std::unique_ptr<CallEvents>> create(const std::string& directory, std::uint32_t rank,
                                                    std::uint32_t ranks);
  ~CallEvents();
  CallEvents(const CallEvents&) = delete;
  CallEvents& operator=(const CallEvents&) = delete;

  void add(const CallEvent& event);

 private:
  // As a reader sees it: begin, end, record and communicator, number and peer, tag and thread and kind. Relaxed
  // atomics, so that two writers of which one overtakes the other spoil an entry and nothing else.
  struct Entry {
    std::atomic<std::uint64_t> words[5];
  };
  explicit CallEvents(void* memory) : memory_(memory) {}
  EventFile& head() const { return *static_cast<EventFile*>(memory_); }
  Entry* entries() const { return reinterpret_cast<Entry*>(static_cast<char*>(memory_) + sizeof(EventFile)); }

  void* const memory_;
};

}  // namespace urakata::observe
