#include "engine/thread.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/waiting.hpp"

namespace urakata::engine {

namespace {
constexpr std::uint64_t kShortNap = 20'000;  // ns, while messages move
constexpr std::uint64_t kDoze = 1'000'000;   // ns, a nap while a caller drives the domain or nothing is pending
// Polls in vain until the helper naps. The host takes in a message from the network in several polls, of which only the
// last completes anything; what it leaves in a socket is no news to the next nap.
constexpr unsigned kNetworkMisses = 4;
constexpr unsigned kStreak = 4;
// How long a stream may gather packets between two turns. It is too long when a turn finds so many messages finished
// that the schedules' windows (8 in each direction) may have run dry.
constexpr std::uint64_t kShortGather = 100'000;  // ns; 12 KB at 1 Gb/s
constexpr std::uint64_t kLongGather = 800'000;
constexpr unsigned kFewMessages = 10;
constexpr unsigned kManyMessages = 16;
constexpr std::uint64_t kSpareSpin = 200'000;  // ns without anything pending until a spare helper dozes

}  // namespace

ThreadEngine::ThreadEngine(Domain& domain, HelperSettings settings)
    : Engine(domain),
      settings_(std::move(settings)),
      watch_(domain.news()),
      helper_(settings_.name, "operations", [this] { run(); }) {}

void ThreadEngine::stop() {
  if (!helper_.runs()) return;
  stopping_.store(true, std::memory_order_seq_cst);
  const std::uint32_t before = state_.exchange(kStopping, std::memory_order_seq_cst);
  if (before == kListening) watch_.wake();
  futex_wake(state_);
  helper_.join();
}

void ThreadEngine::wake(State from) {
  std::uint32_t expected = from;
  if (!state_.compare_exchange_strong(expected, kWorking, std::memory_order_seq_cst)) return;
  if (from == kListening) {
    watch_.wake();
  } else {
    futex_wake(state_);
  }
}

// The instance is counted first (seq_cst), and the helper looks at the count after it has announced its sleep: one of
// the two sees the other.
void ThreadEngine::start_all(Domain::Starts starts) {
  // Up to the last brief one: to post its messages means to post those of what was submitted before, too.
  std::size_t begun = starts.size();
  while (begun != 0 && !starts[begun - 1]->brief()) --begun;
  if (begun != 0) begin(starts.first(begun));
  domain().submit(starts.subspan(begun));
  const std::uint32_t state = state_.load(std::memory_order_seq_cst);
  if (state == kAsleep) wake(kAsleep);
  if ((state == kDozing || state == kListening) && gap_ns_.load(std::memory_order_relaxed) > settings_.long_gap_ns) {
    wake(static_cast<State>(state));
  }
  started_ns_.store(now_ns(), std::memory_order_relaxed);
}

// No gap begins, nor is one seen.
void ThreadEngine::start_awaited(Instance& instance) {
  callers_.fetch_add(1, std::memory_order_relaxed);
  begin_one(instance);
}

void ThreadEngine::enter() {
  callers_.fetch_add(1, std::memory_order_relaxed);
  // The mean gap, the latest counting a quarter. Several callers may spoil a value; it is only an expectation.
  const std::uint64_t gap = now_ns() - started_ns_.load(std::memory_order_relaxed);
  gap_ns_.store((3 * gap_ns_.load(std::memory_order_relaxed) + gap) / 4, std::memory_order_relaxed);
}

void ThreadEngine::leave() {
  callers_.fetch_sub(1, std::memory_order_relaxed);
  // Others of the caller's operations are still on the way, and it goes back to computing.
  if (domain().pending() != 0 && state_.load(std::memory_order_relaxed) == kDozing) wake(kDozing);
}

void ThreadEngine::nap(std::uint64_t ns) {
  const Wakeup wakeup = domain().wakeup();
  if (wakeup == Wakeup::news ? listen() : watch_.wait(wakeup, settings_.nap_ns)) return;
  futex_wait(state_, state_.load(std::memory_order_relaxed), ns);
}

// Sleeps until the transport tells that there is something to do, or a starting call does.
bool ThreadEngine::listen() {
  std::uint32_t expected = kWorking;
  if (!state_.compare_exchange_strong(expected, kListening, std::memory_order_seq_cst)) return true;
  const bool slept = watch_.wait_for_news(kDoze);
  expected = kListening;
  state_.compare_exchange_strong(expected, kWorking, std::memory_order_seq_cst);
  return slept;
}

// Is the program expected back so soon that a helper on its core is not worth the wake-ups?
bool ThreadEngine::stands_back() const {
  return !settings_.spare && gap_ns_.load(std::memory_order_relaxed) <= settings_.long_gap_ns &&
         now_ns() - started_ns_.load(std::memory_order_relaxed) < settings_.long_gap_ns;
}

void ThreadEngine::doze() {
  std::uint32_t expected = kWorking;
  if (!state_.compare_exchange_strong(expected, kDozing, std::memory_order_seq_cst)) return;
  futex_wait(state_, kDozing, kDoze);
  expected = kDozing;
  state_.compare_exchange_strong(expected, kWorking, std::memory_order_seq_cst);
}

void ThreadEngine::run() {
  if (!settings_.cpus.empty()) settings_.cpus.bind();
  std::uint64_t nap_ns = kShortNap;
  unsigned streak = 0;  // turns in a row that moved something
  std::uint64_t gather_ns = kShortGather;
  std::uint64_t idle_since = now_ns();
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (domain().pending() == 0) {
      const std::uint64_t idle = now_ns() - idle_since;
      if (settings_.spare && idle < kSpareSpin) {
        pause();
      } else if (idle < settings_.linger_ns) {
        doze();
      } else {
        std::uint32_t expected = kWorking;
        if (!state_.compare_exchange_strong(expected, kAsleep, std::memory_order_seq_cst)) continue;
        while (domain().pending() == 0 && state_.load(std::memory_order_seq_cst) == kAsleep) {
          futex_wait(state_, kAsleep);
        }
        expected = kAsleep;
        state_.compare_exchange_strong(expected, kWorking, std::memory_order_seq_cst);
        idle_since = now_ns();
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
        if (domain().told()) break;  // whether there is more, the next sleep says
      }
      if (settings_.around_test != nullptr) settings_.around_test(false);
      domain().disown();
      if (settings_.progressed != nullptr) settings_.progressed(idle_since, now_ns());
    } else if (!settings_.spare) {
      // A caller has it, who may wait for this core: listening would end at once, for the news is left to him.
      futex_wait(state_, kWorking, nap_ns);
      nap_ns = std::min(nap_ns * 2, settings_.nap_ns);
      continue;
    }
    if (settings_.spare) {
      pause();
      continue;
    }
    // While a stream is under way, each packet would be news: let some gather, so that fewer wake-ups move as many
    // bytes.
    streak = moved != 0 ? streak + 1 : 0;
    if (streak >= kStreak && domain().network_only() && !domain().told()) {
      if (moved <= kFewMessages) gather_ns = std::min(gather_ns * 2, kLongGather);
      if (moved >= kManyMessages) gather_ns = std::max(gather_ns / 2, kShortGather);
      futex_wait(state_, kWorking, gather_ns);
    }
    nap(nap_ns);
    nap_ns = moved != 0 ? kShortNap : std::min(nap_ns * 2, settings_.nap_ns);
  }
}

}  // namespace urakata::engine
