// SPDX-License-Identifier: BSD-3-Clause
// A call site: what the program's calls from one place, of one size, were and cost.
//
// Contract. `key` is constant after construction. All counters are relaxed atomics: any thread may add at any time, and
// nobody orders anything by them; a reader that wants a consistent picture reads when the program's calls have ended.
// Adding takes no lock, no allocation and no system call.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "observe/profile_link.hpp"
#include "observe/python.hpp"
#include "observe/samples.hpp"

namespace urakata::observe {

// What tells call sites apart. `why` does not: the first reason seen is kept.
struct CallSiteKey {
  std::string_view operation = {};     // "Iallgather", as in the standard without the prefix
  const void* address = nullptr;       // the call's return address in the program
  std::uint64_t bytes = 0;             // payload, as the operation counts it (collectives.hpp, Arguments::bytes)
  std::string_view engine = {};        // "poll", "thread", "native"
  std::string_view algorithm = {};     // "ring"; empty where the MPI library decides
  const PythonLine* python = nullptr;  // lives as long as the process; nullptr: the call is not a Python program's
};

// Sum, extremes and number of times in ns.
class Times {
 public:
  void add(std::uint64_t ns);
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  std::uint64_t sum() const { return sum_.load(std::memory_order_relaxed); }
  std::uint64_t min() const { return count() == 0 ? 0 : min_.load(std::memory_order_relaxed); }
  std::uint64_t max() const { return max_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> sum_{0};
  std::atomic<std::uint64_t> min_{~std::uint64_t{0}};
  std::atomic<std::uint64_t> max_{0};
};

class CallSite {
 public:
  CallSite(const CallSiteKey& key, std::string_view why, std::uint32_t number);
  CallSite(const CallSite&) = delete;
  CallSite& operator=(const CallSite&) = delete;

  CallSiteKey key() const { return {operation_, address_, bytes_, engine_, algorithm_, python_}; }
  const std::string& why() const { return why_; }
  std::uint32_t number() const { return number_; }  // 0, 1, ... in the order of first sight
  bool matches(const CallSiteKey& key) const;

  // Touched by the caller.
  alignas(64) std::atomic<std::uint64_t> started{0};  // calls; more than the times below where some never ended
  Times start;                                        // inside the starting call
  Times gap;         // start's return to the wait's (or last test's) beginning, other calls and tests not counted
  Times test;        // inside unsuccessful tests, one sum per instance; only instances that were tested
  Times wait;        // inside the wait or last test that found it finished
  Times in_flight;   // beginning of the start to the instance's end
  Times overlapped;  // the part of in_flight that lay in the gap
  Samples samples;

  // Touched by progress threads.
  alignas(64) std::atomic<std::uint64_t> progress_thread_ns{0};  // spent by progress threads on this site's instances

 private:
  std::string operation_, engine_, algorithm_, why_;
  const void* address_;
  const PythonLine* python_;
  std::uint64_t bytes_;
  std::uint32_t number_;
};

// The times of one instance from start to end, as part of its request. The caller owns it, but for `done`, which
// whoever finishes the instance calls once, before it publishes the end with release order. Times are CLOCK_MONOTONIC
// in ns; `thread` is the calling one's.
class ObservedInstance {
 public:
  void started(std::uint64_t begin);                               // before anybody else may see the instance
  void returned(std::uint64_t end, const ProfiledThread& thread);  // the operation is started
  void at(CallSite* site);                                         // where; before the starting call ends
  void done(std::uint64_t now) {
    done_ = now;
  }  // never called for what the MPI library runs: the wait's end then counts
  void tested(std::uint64_t begin, std::uint64_t end) { tests_ += end - begin; }  // in vain
  // The call that found it finished; adds everything to the site.
  void finished(std::uint64_t begin, std::uint64_t end, const ProfiledThread& thread, const Work& work,
                const Identity& identity);

  CallSite* call_site() const { return site_; }  // nullptr: not observed
  std::uint64_t done() const { return done_; }

 private:
  CallSite* site_ = nullptr;
  std::uint64_t begin_ = 0;
  std::uint64_t returned_ = 0;
  std::uint64_t tests_ = 0;
  std::uint64_t done_ = 0;
  const ProfiledThread* thread_ = nullptr;  // that started it, and the time that it had spent in calls by then
  std::uint64_t in_calls_ = 0;
};

}  // namespace urakata::observe
