// SPDX-License-Identifier: BSD-3-Clause
// Engine `thread`: a progress thread runs the domain while the program computes.
//
// The progress thread is in one of five states (base/progress_thread_states.hpp):
//   working    something is pending and no caller waits. It advances the domain and, on a shared core, naps between
//              steps: short naps while messages move, longer ones (up to `nap_ns`) while nothing does. On a spare core
//              it spins.
//   listening  everything pending waits for the transport's descriptors. The progress thread sleeps until one of them
//              is readable, for at most kFirstDoze.
//   dozing     a caller waits (and advances the domain itself), a caller is expected to wait soon after its start, or
//              nothing has been pending for a short while. The progress thread takes long naps, so that a start need
//              not wake it and small operations do not pay for that.
//   resting    as dozing, in naps longer than kFirstDoze. Naps double while nobody wakes the progress thread and it
//              moves nothing.
//   asleep     nothing has been pending for `linger_ns`: the progress thread sleeps until a start wakes it.
//
// A start wakes a progress thread that is asleep, one that rests if an instance of the start is not brief
// (Instance::brief()), and one that listens, dozes or rests if the program has lately computed for long between start
// and wait. A wake-up is a system call. Any other start costs a queue entry, or posting a few short messages. A caller
// whose wait ends while something is pending wakes a progress thread that dozes or rests.
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

// Default of ProgressThreadSettings::long_gap_ns. If the gaps between start and wait are longer on average, a start
// wakes a progress thread that naps. In a shorter gap the progress thread would take the core from the program for
// progress that the program will soon make itself, when it waits: on a fully used node Ibcast and Iallgather of 1 MiB
// took 1.2 and 1.07 of the MPI library's time with the wake-up, 1.0 and 0.92 without. A progress thread that is awake
// leaves the domain to the program for as long after a start.
inline constexpr std::uint64_t kLongGap = 300'000;  // ns

inline constexpr std::uint64_t kFirstDoze = 1'000'000;  // ns; length of the first nap while dozing

struct ProgressThreadSettings {
  std::string name = "urakata";    // of the thread, at most 15 characters
  bool spare = false;              // whether the thread has a core of its own: spins while something is pending
  CpuSet cpus = {};                // where the thread runs; empty: the mask of the thread that makes it
  std::uint64_t nap_ns = 200'000;  // longest nap while something is pending
  std::uint64_t long_gap_ns = kLongGap;
  std::uint64_t linger_ns = 20'000'000;  // time without anything pending until the progress thread is asleep
  // Called with true before and with false after each turn of polling; may be null. See Process::make_engines.
  void (*around_test)(bool begins) = nullptr;
  void (*progressed)(std::uint64_t begin_ns, std::uint64_t end_ns) = nullptr;  // called after each turn; may be null
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

  // Ends a start: wakes the progress thread if need be (see above), and begins a gap. `brief`: all instances are brief.
  void started(bool brief);
  void run();
  void doze();
  // Whether the program is expected to wait so soon that progress on its core is not worth the wake-ups.
  bool stands_back() const { return !settings_.spare && gaps_.ends_soon(); }
  bool listen();
  void nap(std::uint64_t ns);  // or until the network is ready, if everything pending comes from there
  void wake(State from);

  ProgressThreadSettings settings_;
  SocketWatch watch_;  // waited on by the progress thread, woken by any thread
  ProgressThreadStates states_;
  std::atomic<std::uint32_t> callers_{0};  // number of callers that wait at the moment
  ProgressGaps gaps_;                      // from a start to the next wait
  std::uint64_t doze_ns_ = kFirstDoze;     // length of the next nap while dozing; touched by the progress thread only
  ProgressThread progress_thread_;         // last, since the thread uses the other members
};

}  // namespace urakata::engine
