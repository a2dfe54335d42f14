// SPDX-License-Identifier: BSD-3-Clause
#include "engine/thread.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/waiting.hpp"

namespace urakata::engine {

namespace {
constexpr std::uint64_t kShortNap = 20'000;  // ns, while messages move
// ns; the longest nap while dozing, reached by doubling. Also the first nap if nothing is pending and the gaps from
// start to wait are short. On shared cores each wake-up takes the core from a rank in the middle of its own progress:
// three ranks of small operations on two cores took 1.10 of the MPI library's time with naps of 1 ms, and 0.97 to 1.0
// with 16 ms. The price: if a program whose gaps were short computes for long after a brief start for the first time,
// that operation is not advanced until the nap ends.
constexpr std::uint64_t kLongDoze = 16'000'000;
// Fruitless polls in a row after which the progress thread naps. The MPI library takes in a message from the network in
// several polls, of which only the last completes anything. Bytes that it leaves in a socket do not end the next nap.
constexpr unsigned kNetworkMisses = 4;
constexpr unsigned kStreak = 4;  // turns in a row that moved something, after which packets are gathered
// How long packets of a stream are gathered between two turns: too long if a turn finds so many messages finished that
// the schedules' windows (8 in each direction) may have run dry.
constexpr std::uint64_t kShortGather = 100'000;  // ns; 12 KB at 1 Gb/s
constexpr std::uint64_t kLongGather = 800'000;
constexpr unsigned kFewMessages = 10;
constexpr unsigned kManyMessages = 16;
constexpr std::uint64_t kSpareSpin = 200'000;  // ns without anything pending until a spare progress thread dozes

}  // namespace

ThreadEngine::ThreadEngine(Domain& domain, ProgressThreadSettings settings)
    : Engine(domain),
      settings_(std::move(settings)),
      watch_(domain.descriptors()),
      gaps_(settings_.long_gap_ns),
      progress_thread_(settings_.name, "operations", [this] { run(); }) {}

void ThreadEngine::stop() {
  if (!progress_thread_.runs()) return;
  if (states_.stop() == State::kListening) watch_.wake();
  progress_thread_.join();
}

void ThreadEngine::wake(State from) {
  if (states_.wake(from) && from == State::kListening) watch_.wake();
}

void ThreadEngine::start_all(Domain::Starts starts) {
  // The instances up to the last brief one are begun at once: posting the messages of that one includes posting those
  // of all instances submitted before it.
  std::size_t begun = starts.size();
  while (begun != 0 && !starts[begun - 1]->brief()) --begun;
  if (begun != 0) begin(starts.first(begun));
  domain().submit(starts.subspan(begun));
  started(begun == starts.size() && std::ranges::all_of(starts, &Instance::brief));
}

void ThreadEngine::start(Instance& instance) {
  const bool brief = instance.brief();
  if (brief) {
    begin(instance);
  } else {
    domain().submit(instance);
  }
  started(brief);
}

// The instances are counted before this loads the state (seq_cst). The progress thread announces its sleep before it
// loads the count. So at least one of the two sees the other.
void ThreadEngine::started(bool brief) {
  const State state = states_.present();
  const bool naps = state == State::kDozing || state == State::kResting || state == State::kListening;
  if (state == State::kAsleep || (state == State::kResting && !brief) || (naps && !gaps_.are_short())) wake(state);
  gaps_.begin();
}

// Neither begins nor ends a gap: the caller does not compute between start and wait.
void ThreadEngine::start_awaited(Instance& instance) {
  callers_.fetch_add(1, std::memory_order_relaxed);
  begin(instance);
}

void ThreadEngine::enter() {
  callers_.fetch_add(1, std::memory_order_relaxed);
  gaps_.end();
}

void ThreadEngine::leave() {
  callers_.fetch_sub(1, std::memory_order_relaxed);
  // If operations are still pending, the caller leaves them to the progress thread and goes back to computing.
  if (domain().pending() == 0) return;
  const State state = states_.present();
  if (state == State::kDozing || state == State::kResting) wake(state);
}

void ThreadEngine::nap(std::uint64_t ns) {
  const Wakeup wakeup = domain().wakeup();
  if (wakeup == Wakeup::descriptors ? listen() : watch_.wait(wakeup, settings_.nap_ns)) return;
  states_.nap(ns);
}

// Sleeps until a descriptor of the transport is readable or a start wakes the thread, for at most kFirstDoze. False:
// the thread cannot wait for the descriptors.
bool ThreadEngine::listen() {
  if (!states_.rests(State::kListening)) return true;
  const bool slept = watch_.wait_for_descriptors(kFirstDoze);
  states_.back(State::kListening);
  return slept;
}

// Naps. If nobody has woken the thread, the next nap is twice as long.
void ThreadEngine::doze() {
  const bool woken = states_.doze(doze_ns_, doze_ns_ > kFirstDoze ? State::kResting : State::kDozing);
  doze_ns_ = woken || settings_.spare ? kFirstDoze : std::min(2 * doze_ns_, kLongDoze);
}

void ThreadEngine::run() {
  if (!settings_.cpus.empty()) settings_.cpus.bind();
  std::uint64_t nap_ns = kShortNap;
  unsigned streak = 0;  // turns in a row that moved something
  std::uint64_t gather_ns = kShortGather;
  std::uint64_t idle_since = now_ns();
  while (!states_.stopping()) {
    if (domain().pending() == 0) {
      const std::uint64_t idle = now_ns() - idle_since;
      if (settings_.spare && idle < kSpareSpin) {
        pause();
      } else if (idle < settings_.linger_ns) {
        if (!settings_.spare && gaps_.are_short()) doze_ns_ = kLongDoze;  // each wake-up interrupts a rank
        doze();
      } else {
        states_.sleep([this] { return domain().pending() == 0; });
        idle_since = now_ns();
        doze_ns_ = kFirstDoze;
      }
      nap_ns = kShortNap;
      continue;
    }
    idle_since = now_ns();
    if (callers_.load(std::memory_order_relaxed) != 0 || stands_back()) {
      if (settings_.spare) {
        pause();
      } else {
        doze();
      }
      continue;
    }
    unsigned moved = 0;
    if (domain().try_own()) {
      if (settings_.around_test != nullptr) settings_.around_test(true);
      const unsigned most = domain().network_only() ? kNetworkMisses : 1;
      for (unsigned misses = 0; misses < most;) {
        const unsigned step = domain().advance(false);
        misses = step != 0 ? 0 : misses + 1;
        moved += step;
        if (callers_.load(std::memory_order_relaxed) != 0 || domain().pending() == 0) break;
        if (domain().waits_for_descriptors()) break;  // if there is more, the next sleep ends at once
      }
      if (settings_.around_test != nullptr) settings_.around_test(false);
      domain().disown();
      if (settings_.progressed != nullptr) settings_.progressed(idle_since, now_ns());
    } else if (!settings_.spare) {
      // A caller owns the domain and may be waiting for this core. Listening would end at once, since the descriptors
      // stay readable until that caller has taken in what has come.
      states_.nap(nap_ns);
      nap_ns = std::min(nap_ns * 2, settings_.nap_ns);
      continue;
    }
    if (settings_.spare) {
      pause();
      continue;
    }
    // While a stream is under way, each packet would wake the thread. Gathering packets moves as many bytes with fewer
    // wake-ups.
    streak = moved != 0 ? streak + 1 : 0;
    if (moved != 0) doze_ns_ = kFirstDoze;
    if (streak >= kStreak && domain().network_only() && !domain().waits_for_descriptors()) {
      if (moved <= kFewMessages) gather_ns = std::min(gather_ns * 2, kLongGather);
      if (moved >= kManyMessages) gather_ns = std::max(gather_ns / 2, kShortGather);
      states_.nap(gather_ns);
    }
    nap(nap_ns);
    nap_ns = moved != 0 ? kShortNap : std::min(nap_ns * 2, settings_.nap_ns);
  }
}

}  // namespace urakata::engine
