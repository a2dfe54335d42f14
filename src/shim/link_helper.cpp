#include "shim/link_helper.hpp"

#include "base/clock.hpp"
#include "base/waiting.hpp"

namespace urakata::shim {

namespace {
constexpr std::uint64_t kDoze = 1'000'000;     // ns
constexpr std::uint64_t kListen = 5'000'000;   // ns; how long stop() waits at most
constexpr std::uint64_t kLinger = 20'000'000;  // ns without an open request until the helper sleeps for good
}  // namespace

LinkHelper::LinkHelper(p2p::Endpoint& endpoint, const transport::WireLink& link, const std::atomic<unsigned>& waiting,
                       const CpuSet& cpus)
    : endpoint_(endpoint),
      link_(link),
      waiting_(waiting),
      cpus_(cpus),
      thread_("urakata/wire", "messages between nodes", [this] { run(); }) {}

// A request is counted before the state is read, and the helper does it the other way round.
void LinkHelper::expect(bool long_message) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint32_t present = state_.load(std::memory_order_relaxed);
  if (present != kAsleep && !(long_message && present == kDozing)) return;
  if (state_.compare_exchange_strong(present, kWorking, std::memory_order_relaxed)) futex_wake(state_);
}

void LinkHelper::stop() {
  if (!thread_.runs()) return;
  state_.store(kStopping, std::memory_order_seq_cst);
  futex_wake(state_);
  thread_.join();
}

void LinkHelper::doze() {
  std::uint32_t expected = kWorking;
  if (!state_.compare_exchange_strong(expected, kDozing, std::memory_order_seq_cst)) return;
  futex_wait(state_, kDozing, kDoze);
  expected = kDozing;
  state_.compare_exchange_strong(expected, kWorking, std::memory_order_seq_cst);
}

void LinkHelper::sleep() {
  std::uint32_t expected = kWorking;
  if (!state_.compare_exchange_strong(expected, kAsleep, std::memory_order_seq_cst)) return;
  while (!busy() && state_.load(std::memory_order_seq_cst) == kAsleep) futex_wait(state_, kAsleep);
  expected = kAsleep;
  state_.compare_exchange_strong(expected, kWorking, std::memory_order_seq_cst);
}

void LinkHelper::run() {
  if (!cpus_.empty()) cpus_.bind();
  std::uint64_t idle_since = now_ns();
  while (!stopping()) {
    if (!busy()) {
      if (now_ns() - idle_since < kLinger) {
        doze();
      } else {
        sleep();
        idle_since = now_ns();
      }
      continue;
    }
    idle_since = now_ns();
    if (waiting_.load(std::memory_order_relaxed) != 0) {
      doze();
      continue;
    }
    endpoint_.progress_if_free();
    if (busy() && waiting_.load(std::memory_order_relaxed) == 0) link_.wait(kListen);
  }
}

}  // namespace urakata::shim
