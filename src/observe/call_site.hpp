// SPDX-License-Identifier: BSD-3-Clause
// A call site: number and times of the program's calls of one operation from one place with one payload size.
//
// Thread-safety. The key is constant after construction. All counters are relaxed atomics that order nothing: any
// thread may add or read at any time. They are consistent once the program's calls have ended. Adding takes no lock, no
// allocation and no system call.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "observe/profile_link.hpp"
#include "observe/python.hpp"
#include "observe/samples.hpp"

namespace urakata::observe {

// What tells call sites apart.
struct CallSiteKey {
  std::string_view operation = {};     // "Iallgather", as in the standard without the prefix
  const void* address = nullptr;       // the call's return address in the program
  std::uint64_t bytes = 0;             // payload, as the operation counts it (collectives.hpp, Arguments::bytes)
  std::string_view engine = {};        // "poll", "thread/spare", "thread/shared", "kernel", "native"
  std::string_view algorithm = {};     // "ring"; empty: the MPI library decides
  const PythonLine* python = nullptr;  // lives as long as the process; nullptr: not from Python code, or not known
};

// Number, sum, least and most of durations in ns; all 0 while there is none.
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
  // `why`: the reason for engine and algorithm that the first call had. Texts are copied.
  CallSite(const CallSiteKey& key, std::string_view why, std::uint32_t number);
  CallSite(const CallSite&) = delete;
  CallSite& operator=(const CallSite&) = delete;

  CallSiteKey key() const { return {operation_, address_, bytes_, engine_, algorithm_, python_}; }
  const std::string& why() const { return why_; }
  std::uint32_t number() const { return number_; }  // 0, 1, ... in the order of first sight
  bool matches(const CallSiteKey& key) const;

  // Written by threads of the program. One duration for each instance; from `gap` on only for those that have ended.
  alignas(64) std::atomic<std::uint64_t> started{0};  // number of instances started
  Times start;                                        // inside the starting call
  Times gap;         // from the start's return to the beginning of the last wait or test, without MPI calls in between
  Times test;        // inside unsuccessful tests, summed for an instance; only instances that were so tested
  Times wait;        // inside the wait or test that found the instance finished
  Times in_flight;   // from the beginning of the start to the instance's end
  Times overlapped;  // the part of in_flight that lay in the gap
  Samples samples;

  // For progress threads, on a cache line of its own. None of them adds to it, so it is always 0.
  alignas(64) std::atomic<std::uint64_t> progress_thread_ns{0};  // time spent on this site's instances

 private:
  std::string operation_, engine_, algorithm_, why_;
  const void* address_;
  const PythonLine* python_;
  std::uint64_t bytes_;
  std::uint32_t number_;
};

// The times of one instance from start to end, as part of its request. The thread that has the request calls the
// functions in the order below, except done(). The thread that finishes the instance calls done(), at most once, before
// it publishes the end with release order. Times are CLOCK_MONOTONIC in ns; `thread` is the calling thread's.
class ObservedInstance {
 public:
  void started(std::uint64_t begin);                               // before another thread may see the instance
  void returned(std::uint64_t end, const ProfiledThread& thread);  // the operation is started
  void at(CallSite* site);                                         // never nullptr; before the starting call ends
  void done(std::uint64_t now) {
    done_ = now;
  }  // the instance's end; never called for what the MPI library runs: the end of the wait counts then
  void tested(std::uint64_t begin, std::uint64_t end) { tests_ += end - begin; }  // an unsuccessful test
  // The call that found the instance finished; adds all times to the site. Does nothing without a site.
  void finished(std::uint64_t begin, std::uint64_t end, const ProfiledThread& thread, const Work& work,
                const Identity& identity);

  CallSite* call_site() const { return site_; }  // nullptr before at() and after finished()
  std::uint64_t done() const { return done_; }

 private:
  CallSite* site_ = nullptr;
  std::uint64_t begin_ = 0;
  std::uint64_t returned_ = 0;
  std::uint64_t tests_ = 0;
  std::uint64_t done_ = 0;
  const ProfiledThread* thread_ = nullptr;  // of the thread that started the instance
  std::uint64_t in_calls_ = 0;              // thread_->in_calls() at returned_
};

}  // namespace urakata::observe
