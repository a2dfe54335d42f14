// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/direct_progress.hpp"

#include <atomic>
#include <mutex>

#include "base/cpu_set.hpp"
#include "base/periodic_progress.hpp"
#include "direct/operations.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/process/space.hpp"

namespace urakata::shim {

namespace {

constinit std::atomic<PeriodicProgress*> direct_progress{nullptr};  // constant once made

// Bytes of an operation that is worth waking the thread, which takes some microseconds.
constexpr std::uint64_t kLong = 65536;

struct MoveOperations {
  CpuSet cpus;  // cores of the thread; empty: those of the thread that starts it
  bool bound = false;

  bool operator()() {
    if (!bound && !cpus.empty()) cpus.bind();
    bound = true;
    while (direct::Operations::progress_all(direct::Operations::Caller::progress_thread)) {
    }
    return direct::Operations::any_under_way();
  }
};

// Other ranks wake the port's threads when they post, and when they have performed the last item of a rank's work.
bool sleep_at_port(std::uint64_t ns) {
  endpoint()->port().sleep(ns, [] { return !direct::Operations::any_under_way(); });
  return true;
}

}  // namespace

void expect_direct_progress(std::uint64_t bytes) {
  if (periodic != nullptr) return periodic->expect();
  if (bytes < kLong) return;
  static std::once_flag once;
  std::call_once(once, [] {
    if (!job_setup().engine_choice().why_not(name(EngineKind::thread)).empty()) return;
    direct_progress.store(new PeriodicProgress("urakata/direct", "collectives in the space",
                                               MoveOperations{job_setup().placement().progress_thread}, sleep_at_port),
                          std::memory_order_release);
  });
  if (PeriodicProgress* const made = direct_progress.load(std::memory_order_acquire)) made->expect();
}

void stop_direct_progress() {
  if (PeriodicProgress* const made = direct_progress.load(std::memory_order_acquire)) made->stop();
}

std::uint64_t direct_progress_cpu_ns() {
  const PeriodicProgress* const made = direct_progress.load(std::memory_order_acquire);
  return made != nullptr ? made->cpu_ns() : 0;
}

}  // namespace urakata::shim
