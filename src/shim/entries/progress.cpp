// SPDX-License-Identifier: BSD-3-Clause
#include "shim/progress/progress.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/progress_thread.hpp"
#include "base/step_pace.hpp"
#include "base/threads.hpp"
#include "direct/operations.hpp"
#include "shim/collectives/channel_exchange.hpp"
#include "shim/collectives/direct_exchange.hpp"
#include "shim/completion/left_behind.hpp"
#include "shim/messages/native_receive_calls.hpp"
#include "shim/messages/wire_messages.hpp"
#include "shim/native/asking_native.hpp"
#include "shim/native/left_handles.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/space.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {

namespace {

constexpr std::uint64_t kCallerSleep =
    500'000;  // ns; what ends the wait may be another thread's start, which no socket tells

int progress_hook() { return !AskingNative::now() && the_progress->step_engines() ? 1 : 0; }

// The paces of step_rarely().
constinit thread_local StepPace pace;
constinit thread_local StepPace native_pace;

// Progress of messages and exchanges, and what waits for a thread of the program. Not on progress threads: below
// MPI_THREAD_MULTIPLE, the program has one thread at a time in MPI, and the parts called here count on that.
bool progress_messages() {
  if (on_progress_thread) return false;
  bool moved = endpoint() != nullptr && endpoint()->progress();
  check_link();
  moved = progress_mixed() || moved;
  moved = progress_exchanges() || moved;
  moved = direct::Operations::progress_all(direct::Operations::Caller::program) || moved;
  moved = destroy_left_direct() || moved;
  free_left_handles();
  return settle_left_behind() || moved;
}

}  // namespace

constinit Progress* the_progress = nullptr;

void Progress::open(bool wire, MPI_Comm world) {
  wire_ = wire;
  world_ = world;
  std::vector<int> descriptors;
  for (engine::Engine* engine : engines_.all()) {
    const std::vector<int>& its = engine->domain().descriptors();
    descriptors.insert(descriptors.end(), its.begin(), its.end());
  }
  if (link() != nullptr) descriptors.push_back(link()->descriptor());
  watch_ = std::make_unique<SocketWatch>(std::move(descriptors));
}

void Progress::hook() {
  if (native.progress_register == nullptr) return;
  std::call_once(hooked_, [] {
    if (native.progress_register(progress_hook) == 0) return;
    log::error(
        "the MPI library refuses to call Urakata while a rank waits in it: operations progress in other MPI calls "
        "only");
  });
}

void Progress::unhook() {
  if (native.progress_unregister != nullptr) native.progress_unregister(progress_hook);
}

bool Progress::step_engines(std::int64_t bytes) {
  bool moved = progress_messages();
  for (engine::Engine* engine : engines_.all()) {
    if (engine->domain().pending() != 0) moved = engine->step(bytes) || moved;
  }
  return moved;
}

bool Progress::step_all(std::int64_t bytes) {
  constexpr unsigned kPolls = 8;  // one of the MPI library takes about as long as one of the wire
  if (step_engines(bytes)) return true;
  if (wire_ && fetch_add(unsuccessful_polls_, 1U, std::memory_order_relaxed) % kPolls == kPolls - 1) poll_native();
  return false;
}

void Progress::step_rarely() {
  constexpr unsigned kShare = 63;
  constexpr unsigned kNativeShare = 3 * kShare;  // a poll of the MPI library takes longer
  const std::uint64_t begin = now_ns();
  if (!pace.due(begin, kShare)) return;
  const bool moved = step_engines();
  const std::uint64_t end = now_ns();
  pace.stepped(begin, end);
  if (moved || !wire_ || !native_pace.due(end, kNativeShare)) return;
  poll_native();
  native_pace.stepped(end, now_ns());
}

void Progress::poll_native() {
  int flag = 0;
  const AskingNative asking;
  native.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_, &flag, MPI_STATUS_IGNORE);
}

Wakeup Progress::wakeup() const {
  if (near_exchanges_under_way() || direct::Operations::any_under_way()) return Wakeup::none;
  bool pending = exchanges_under_way();
  Wakeup weakest = Wakeup::descriptors;
  for (engine::Engine* engine : engines_.all()) {
    if (engine->domain().pending() == 0) continue;
    weakest = std::min(weakest, engine->domain().wakeup());
    pending = true;
  }
  return pending ? weakest : Wakeup::none;
}

bool Progress::sleep() {
  const Wakeup by = wakeup();
  if (by == Wakeup::none || watched_.exchange(true, std::memory_order_acquire)) return false;
  const bool slept = watch_->wait(by, kCallerSleep);
  watched_.store(false, std::memory_order_release);
  if (wire_) poll_native();
  return slept;
}

}  // namespace urakata::shim
