// SPDX-License-Identifier: BSD-3-Clause
#include "transport/link/link_progress.hpp"

#include "base/clock.hpp"
#include "base/waiting.hpp"

namespace urakata::transport {

namespace {
constexpr std::uint64_t kDoze = 1'000'000;     // ns
constexpr std::uint64_t kListen = 5'000'000;   // ns; how long stop() waits at most
constexpr std::uint64_t kLinger = 20'000'000;  // ns without an open request until the progress thread sleeps for good
}  // namespace

LinkProgress::LinkProgress(p2p::Endpoint& endpoint, const WireLink& link, const std::atomic<unsigned>& waiting,
                           const Settings& settings)
    : endpoint_(endpoint),
      link_(link),
      waiting_(waiting),
      settings_(settings),
      gaps_(settings.long_gap_ns),
      thread_("urakata/wire", "messages between nodes", [this] { run(); }) {}

// A request is counted before the state is read, and the progress thread does it the other way round.
void LinkProgress::expect(bool long_message) {
  if (endpoint_.one_open() || !gaps_.begun()) gaps_.begin();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const State present = states_.present();
  const bool pays = long_message && (settings_.spare || !gaps_.are_short());
  if (present == State::kAsleep || (present == State::kDozing && pays)) states_.wake(present);
}

void LinkProgress::note_wait() {
  if (!gaps_.begun()) return;
  gaps_.end();
  gaps_.forget();
}

void LinkProgress::stop() {
  if (!thread_.runs()) return;
  states_.stop();
  thread_.join();
}

void LinkProgress::run() {
  if (!settings_.cpus.empty()) settings_.cpus.bind();
  std::uint64_t idle_since = now_ns();
  while (!states_.stopping()) {
    if (!busy()) {
      if (now_ns() - idle_since < kLinger) {
        states_.doze(kDoze);
      } else {
        states_.sleep([this] { return !busy(); });
        idle_since = now_ns();
      }
      continue;
    }
    idle_since = now_ns();
    if (waiting_.load(std::memory_order_relaxed) != 0 || stands_back()) {
      states_.doze(kDoze);
      continue;
    }
    endpoint_.progress_link_if_free();
    if (busy() && waiting_.load(std::memory_order_relaxed) == 0) link_.wait(kListen);
  }
}

}  // namespace urakata::transport
