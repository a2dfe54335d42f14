// SPDX-License-Identifier: BSD-3-Clause
// The profile of one rank: each of the program's MPI calls, counted and timed by call site, in a file of its own that
// is mapped. So what was called is there also where the rank is killed.
//
// The file, DIR/calls-N.bin, in the machine's byte order: a header (CallFile), then `most` records (CallRecord) of
// which `records` are in use, then texts, each ended by a zero byte, that the others name by their offset among the
// texts. The text at 0 is the empty one. While the rank runs the file has its full size; finish() leaves what is in
// use.
//
// Contract. record(), enter() and leave() may be called by any thread at any time between create() and finish(). The
// first takes a lock and allocates at the first sight of a key only, and no other does.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "observe/call_site_table.hpp"
#include "observe/python.hpp"

namespace urakata::observe {

inline constexpr char kCallFileMark[] = "URACALLS";
inline constexpr std::uint32_t kCallFileFormat = 2;  // raised when a reader of the old form would go wrong

enum class CallFileState : std::uint32_t { running = 0, finished = 1, aborted = 2 };

struct CallFile {
  char mark[8];
  std::uint32_t format;
  std::atomic<CallFileState> state;
  std::uint32_t rank, ranks;
  std::uint32_t most;                  // records there is room for
  std::atomic<std::uint32_t> records;  // in use
  std::uint32_t texts;                 // offset of the texts in the file
  std::atomic<std::uint32_t> text_bytes;
  std::uint32_t host, program, clock;  // texts: the node's name, the command line, by which clocks are known to be one
  std::uint32_t pid;
  std::uint64_t begin_ns;             // CLOCK_MONOTONIC at MPI_Init's return
  std::atomic<std::uint64_t> end_ns;  // at MPI_Finalize's beginning; until then that of the last call's end
  // Of the call that was begun last: 1 + its record (0: it has ended) and when it began. That of a Python program names
  // the extension module at first, and the line once the call has lasted for a while (located()).
  std::atomic<std::uint64_t> since_ns;
  std::int64_t realtime_minus_monotonic_ns;
  std::atomic<std::uint32_t> inside;
  std::atomic<std::uint32_t> last;  // 1 + the record of the call that ended last, at end_ns; 0: none has
  std::uint32_t job;                // the same in all files of a job, and another one in another job's; 0: not known
  std::uint32_t reserved;
};

// Sums over the calls from one place. Times in ns, inside the outermost call. A reader passes over those of no calls.
struct CallRecord {
  std::uint32_t operation;  // texts: "Send"
  std::uint32_t module, symbol;
  std::uint32_t python_file, python_function;  // 0: not a Python program's
  std::int32_t python_line;
  std::uint64_t offset, symbol_offset;  // as CodePlace
  std::atomic<std::uint64_t> calls;
  std::atomic<std::uint64_t> ns;
  std::atomic<std::uint64_t> least_ns, most_ns;
  std::atomic<std::uint64_t> sized;  // calls whose payload is known, of which
  std::atomic<std::uint64_t> bytes;  // is the sum: what the call sends, or reads or writes of a file
};

struct ProfileKey {
  const char* operation = nullptr;     // lives as long as the process, and is the same for the same operation
  const void* address = nullptr;       // the call's return address in the program
  const PythonLine* python = nullptr;  // as with CallSiteKey
};

class CallProfile {
 public:
  static constexpr std::uint32_t kMost = 1024;         // the first takes all further keys, as "(others)"
  static constexpr std::uint32_t kTexts = 124 * 1024;  // bytes; where they are used up the rest stays nameless
  static constexpr std::uint64_t kNotKnown = ~std::uint64_t{0};

  struct Rank {
    std::uint32_t rank = 0, ranks = 1;
    std::uint32_t job = 0;  // see CallFile
    std::string program;    // its command line
    std::string file;       // path of the program's own file
  };

  // Creates the directory and its parents if needed. The error names the path and the reason.
  static Result<std::unique_ptr<CallProfile>> create(const std::string& directory, const Rank& rank);
  ~CallProfile();
  CallProfile(const CallProfile&) = delete;
  CallProfile& operator=(const CallProfile&) = delete;

  // The record of a call site, which lives as long as the profile; then a call from there begins, and has ended.
  // `bytes` may be kNotKnown. Times are CLOCK_MONOTONIC in ns.
  CallRecord& record(const ProfileKey& key);
  void enter(const CallRecord& record, std::uint64_t begin);
  void leave(CallRecord& record, std::uint64_t begin, std::uint64_t end, std::uint64_t bytes);

  // The place of the call that began at `begin` is now known better: `record` is the call site's.
  void located(const CallRecord& record, std::uint64_t begin);

  std::uint32_t number_of(const CallRecord& record) const { return static_cast<std::uint32_t>(&record - records()); }

  void aborted();  // the program has called MPI_Abort
  // The rank reaches MPI_Finalize at `now`: writes the file as it is to stay. The error names the path and the reason;
  // then what there is stays as it is.
  Status finish(std::uint64_t now);

 private:
  class ProfileSite;
  CallProfile(std::string path, void* memory, const Rank& rank);

  CallFile& head() const { return *static_cast<CallFile*>(memory_); }
  CallRecord* records() const;
  std::uint32_t text(std::string_view text) URAKATA_REQUIRES(lock_);
  CallRecord& fill(std::uint32_t number, const ProfileKey& key);

  const std::string path_, file_;
  void* const memory_;
  Mutex lock_;  // of the texts
  CallSiteTable<ProfileSite, ProfileKey> sites_;
};

}  // namespace urakata::observe
