// SPDX-License-Identifier: BSD-3-Clause
// The profile of one rank: its MPI calls by call site, counted and timed, in a mapped file that outlives the rank.
//
// The file of rank N, DIR/calls-N.bin, in the machine's byte order: a header (CallFile), `most` records (CallRecord) of
// which `records` are in use, and texts, each ended by a zero byte. Header and records name a text by its offset among
// the texts; offset 0 is the empty text. The file has its full size until finish() replaces it by one of what is in
// use.
//
// Thread-safety: finish() by one thread, once; the rest by any thread at any time. What is noted once finish() has
// begun may not reach the file. Of these only record() takes a lock and allocates, at the first sight of a key.
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
inline constexpr std::uint32_t kCallFileFormat = 2;  // raised when readers of the old format would fail

enum class CallFileState : std::uint32_t { running = 0, finished = 1, aborted = 2 };

struct CallFile {
  char mark[8];
  std::uint32_t format;
  std::atomic<CallFileState> state;
  std::uint32_t rank, ranks;
  std::uint32_t most;                  // number of records that fit
  std::atomic<std::uint32_t> records;  // in use
  std::uint32_t texts;                 // offset of the texts in the file
  std::atomic<std::uint32_t> text_bytes;
  std::uint32_t host, program, clock;  // texts: the node's name, the command line, clock_name() of node.hpp
  std::uint32_t pid;
  std::uint64_t begin_ns;                    // CLOCK_MONOTONIC at create(), which follows MPI_Init
  std::atomic<std::uint64_t> end_ns;         // when MPI_Finalize began; until then when the last call ended
  std::atomic<std::uint64_t> since_ns;       // when the call began that was begun last
  std::int64_t realtime_minus_monotonic_ns;  // see node.hpp
  // 1 + the record of the call that was begun last; 0: that call has ended. The record of a call from Python names the
  // extension module at first, and the line of Python code once the call has lasted for a while (located()).
  std::atomic<std::uint32_t> inside;
  std::atomic<std::uint32_t> last;  // 1 + the record of the call that ended last, at end_ns; 0: none has
  std::uint32_t job;                // equal in all files of a job, different between jobs; 0: not known
  std::uint32_t reserved;
};

// Sums over the outermost calls from one place. Times are in ns. Readers skip records without calls.
struct CallRecord {
  std::uint32_t operation;                     // text: "Send"
  std::uint32_t module, symbol;                // texts: as in CodePlace
  std::uint32_t python_file, python_function;  // texts; 0: the call is not from Python code, or the line is not known
  std::int32_t python_line;
  std::uint64_t offset, symbol_offset;           // as in CodePlace
  std::atomic<std::uint64_t> calls;              // number of calls
  std::atomic<std::uint64_t> ns;                 // sum of their durations
  std::atomic<std::uint64_t> least_ns, most_ns;  // the shortest and the longest
  std::atomic<std::uint64_t> sized;              // number of calls whose payload is known
  std::atomic<std::uint64_t> bytes;              // sum of these payloads: bytes sent, or read or written of a file
};

struct ProfileKey {
  const char* operation = nullptr;     // a static text; equal operations have the same address
  const void* address = nullptr;       // the call's return address in the program
  const PythonLine* python = nullptr;  // as in CallSiteKey
};

class CallProfile {
 public:
  static constexpr std::uint32_t kMost = 1024;         // records; the first, "(others)", takes all further keys
  static constexpr std::uint32_t kTexts = 124 * 1024;  // bytes; once they are used up, further texts are empty
  static constexpr std::uint64_t kNotKnown = ~std::uint64_t{0};

  struct Rank {
    std::uint32_t rank = 0, ranks = 1;
    std::uint32_t job = 0;  // see CallFile
    std::string program;    // the program's command line
    std::string file;       // path of the program's own file
  };

  // Creates the file, and the directory and its parents if needed. Replaces or removes the rank's files of an earlier
  // report, but refuses if one of these names is taken by another file. The error names the path and the reason.
  static Result<std::unique_ptr<CallProfile>> create(const std::string& directory, const Rank& rank);
  ~CallProfile();
  CallProfile(const CallProfile&) = delete;
  CallProfile& operator=(const CallProfile&) = delete;

  // The record of a call site, which lives as long as the profile; that of "(others)" if room or memory is lacking.
  CallRecord& record(const ProfileKey& key);
  // A call of `record` begins, or has ended. `bytes` may be kNotKnown. Times are CLOCK_MONOTONIC in ns.
  void enter(const CallRecord& record, std::uint64_t begin);
  void leave(CallRecord& record, std::uint64_t begin, std::uint64_t end, std::uint64_t bytes);

  // Sets a better known place, `record`, for the open call that began at `begin`; nothing if another began since.
  void located(const CallRecord& record, std::uint64_t begin);

  std::uint32_t number_of(const CallRecord& record) const { return static_cast<std::uint32_t>(&record - records()); }

  void aborted();  // the program has called MPI_Abort
  // Writes the final file, when the rank begins MPI_Finalize at `now`. The error names path and reason; the mapped file
  // is then left as it is.
  Status finish(std::uint64_t now);

 private:
  class ProfileSite;
  CallProfile(std::string path, void* memory, const Rank& rank);

  CallFile& head() const { return *static_cast<CallFile*>(memory_); }
  CallRecord* records() const;
  // The text's offset; adds the text if it is new. 0 if there is no room.
  std::uint32_t text(std::string_view text) URAKATA_REQUIRES(lock_);
  // Fills in a record for a new site and returns it; returns that of "(others)" if all are in use.
  CallRecord& fill(std::uint32_t number, const ProfileKey& key);

  const std::string path_, file_;
  void* const memory_;
  Mutex lock_;  // protects the texts, and a new record while it is filled
  CallSiteTable<ProfileSite, ProfileKey> sites_;
};

}  // namespace urakata::observe
