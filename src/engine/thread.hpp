// SPDX-License-Identifier: BSD-3-Clause
// Engine `thread`: a progress thread runs the domain while the program computes.
//
// The progress thread is in one of five states (base/progress_thread_states.hpp):
//   working    something is pending and no caller waits. It advances the domain and, on a shared core, naps between
//              steps: short naps while messages move, longer ones (up to `nap_ns`) while nothing does. On a spare core
//              it spins.
//   listening  everything pending waits for the transport, which tells when it has something: the progress
//              thread sleeps until then.
//   dozing     a caller waits (and drives the domain itself), is expected to within a moment of its start, or nothing
//              has been pending for a short while: long naps, so that a starting call need not wake it and small
//              operations do not pay for it. Where the program has lately computed for long between start and wait, the
//              start does wake it.
//   resting    dozing for so long that the start of what is not brief wakes it too. Naps double while nobody wakes the
//              progress thread and it finds nothing to do.
//   asleep     nothing has been pending for `linger_ns`: no wake-up at all until a starting call sends one.
//
// Starting costs a queue entry, and posting the first messages where they are few and short; a system call only if the
// progress thread is asleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/cpu_set.hpp"
#include "base/progress_gaps.hpp"
#include "base/progress_thread.hpp"
#include "base/progress_thread_states.hpp"
#include "base/socket_watch.hpp"
#include "engine/engine.hpp"

namespace urakata::engine {

// A gap between start and wait, as seen before, from which on a dozing progress thread is woken at once. In a shorter
// one it could only take the core from the program for what the program will do itself when it waits: on a fully used
// node Ibcast and Iallgather of 1 MiB took 1.2 and 1.07 of the MPI library's overall time where it was woken, and 1.0
// and 0.92 where not. A progress thread that is awake stands back as long.
inline constexpr std::uint64_t kLongGap = 300'000;  // ns

inline constexpr std::uint64_t kFirstDoze = 1'000'000;  // ns

struct ProgressThreadSettings {
  std::string name = "urakata";    // of the thread, at most 15 characters
  bool spare = false;              // has a core of its own: spins while something is pending
  CpuSet cpus = {};                // where it runs; empty: the mask of the thread that makes it
  std::uint64_t nap_ns = 200'000;  // longest nap while something is pending
  std::uint64_t long_gap_ns = kLongGap;
  std::uint64_t linger_ns = 20'000'000;  // without anything pending until the progress thread sleeps for good
  // Called before and after each turn of polling; may be null. See Process::make_engines.
  void (*around_test)(bool begins) = nullptr;
  void (*progressed)(std::uint64_t begin_ns, std::uint64_t end_ns) = nullptr;  // for the time line; may be null
};

class ThreadEngine final : public Engine {
 public:
  ThreadEngine(Domain& domain, ProgressThreadSettings settings);
  ~ThreadEngine() override { stop(); }
  ThreadEngine(const ThreadEngine&) = delete;
  ThreadEngine& operator=(const ThreadEngine&) = delete;

  std::string_view name() const override { return settings_.spare ? "thread/spare" : "thread/shared"; }
  void start_all(Domain::Starts starts) override;
  void start(Instance& instance) override;
  void start_awaited(Instance& instance) override;
  void enter() override;
  void leave() override;
  void stop() override;
  std::uint64_t progress_cpu_ns() const override { return progress_thread_.cpu_ns(); }

 private:
  using State = ProgressThreadStates::State;

  // The end of a start; `brief`: all that was started is.
  void started(bool brief);
  void run();
  void doze();
  // Is the program expected back so soon that a progress thread on its core is not worth the wake-ups?
  bool stands_back() const { return !settings_.spare && gaps_.ends_soon(); }
  bool listen();
  void nap(std::uint64_t ns);  // or until the network is ready, where all messages come that way
  void wake(State from);

  ProgressThreadSettings settings_;
  SocketWatch watch_;  // the progress thread's
  ProgressThreadStates states_;
  std::atomic<std::uint32_t> callers_{0};  // that wait at the moment
  ProgressGaps gaps_;                      // from a start to the next wait
  std::uint64_t doze_ns_ = kFirstDoze;     // the progress thread's: the next nap
  ProgressThread progress_thread_;         // the last: it uses the others
};

}  // namespace urakata::engine
