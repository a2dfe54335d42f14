// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/exchange_progress.hpp"

#include <poll.h>

#include <atomic>
#include <ctime>
#include <mutex>

#include "base/cpu_set.hpp"
#include "base/options/options.hpp"
#include "base/periodic_progress.hpp"
#include "shim/collectives/channel_exchange.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/process/space.hpp"

namespace urakata::shim {

namespace {

constinit std::atomic<PeriodicProgress*> exchange_progress{nullptr};  // constant once made
constinit std::atomic<unsigned> long_waits{0};                        // relaxed: a late look does no harm

struct MoveExchanges {
  CpuSet cpus;  // cores of the thread; empty: those of the thread that starts it
  bool bound = false;

  bool operator()() {
    if (!bound && !cpus.empty()) cpus.bind();
    bound = true;
    if (long_waits.load(std::memory_order_relaxed) == 0) progress_exchanges();
    return long_exchanges_under_way();
  }
};

bool sleep_until_ready(std::uint64_t ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (long_waits.load(std::memory_order_relaxed) != 0) return false;  // the caller that waits polls the wire
  pollfd watched{.fd = job_setup().wire()->descriptor(), .events = POLLIN, .revents = 0};
  const timespec timeout{.tv_sec = static_cast<time_t>(ns / kSecond), .tv_nsec = static_cast<long>(ns % kSecond)};
  return ppoll(&watched, 1, &timeout, nullptr) >= 0;
}

}  // namespace

bool want_exchange_progress() {
  static std::once_flag once;
  std::call_once(once, [] {
    const bool progress_threads = job_setup().engine_choice().why_not(name(EngineKind::thread)).empty();
    if (!progress_threads || periodic != nullptr || job_setup().wire() == nullptr) return;
    exchange_progress.store(
        new PeriodicProgress("urakata/plans", "exchanges between nodes",
                             MoveExchanges{job_setup().placement().progress_thread}, sleep_until_ready),
        std::memory_order_release);
  });
  return exchange_progress.load(std::memory_order_acquire) != nullptr;
}

void expect_long_exchange() { exchange_progress.load(std::memory_order_acquire)->expect(); }

LongWait::LongWait(bool of_progress_thread) : of_progress_thread_(of_progress_thread) {
  if (of_progress_thread_) long_waits.fetch_add(1, std::memory_order_relaxed);
}

LongWait::~LongWait() {
  if (of_progress_thread_) long_waits.fetch_sub(1, std::memory_order_relaxed);
}

void stop_exchange_progress() {
  PeriodicProgress* const made = exchange_progress.load(std::memory_order_acquire);
  if (made != nullptr) made->stop();
}

std::uint64_t exchange_progress_cpu_ns() {
  const PeriodicProgress* const made = exchange_progress.load(std::memory_order_acquire);
  return made != nullptr ? made->cpu_ns() : 0;
}

}  // namespace urakata::shim
