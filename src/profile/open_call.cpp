// SPDX-License-Identifier: BSD-3-Clause
#include "profile/open_call.hpp"

#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/spin_lock.hpp"
#include "observe/python.hpp"

namespace urakata::profile {
namespace {

using observe::CallProfile;

constexpr std::uint64_t kLong = 500'000'000;  // ns that a call lasts before its line is looked for; period of looking

struct OpenCall {
  const void* thread = nullptr;  // calling thread (observe::python_thread())
  const char* name = nullptr;
  const void* address = nullptr;
  std::uint64_t begin = 0;  // now_ns(); 0: no call
};

SpinLock newest_lock;  // guards `newest`
OpenCall newest;       // the call of any thread that has begun last; no call if that one has ended
std::once_flag started;

OpenCall read_newest() {
  const LockGuard held(newest_lock);
  return newest;
}

// Whether the thread is inside the call for certain. False also if another call has begun since.
bool still_newest(const OpenCall& call) {
  const OpenCall now = read_newest();
  return now.thread == call.thread && now.begin == call.begin;
}

void look(CallProfile& to, const OpenCall& call) {
  observe::find_python_line(
      call.thread, [&] { return still_newest(call); },
      [&](const observe::PythonLine& line) {
        to.located(to.record({call.name, call.address, &line}), call.begin);
      });
}

void watch(const std::atomic<CallProfile*>& own) {
  std::uint64_t looked_at = 0;
  while (CallProfile* const to = own.load(std::memory_order_acquire)) {
    const OpenCall call = read_newest();
    if (call.begin != 0 && call.begin != looked_at && now_ns() - call.begin >= kLong) {
      look(*to, call);
      looked_at = call.begin;
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(kLong));
  }
}

void start_watching(const std::atomic<CallProfile*>& own) {
  // The program's signals are for the program's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(watch, std::cref(own)).detach();
  } catch (const std::system_error& failed) {
    log::warning(
        "report: cannot start a thread (%s): of a Python call that hangs, the report names the module, not the line",
        failed.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void note_python_call(const std::atomic<CallProfile*>& own, const char* name, const void* address,
                      std::uint64_t begin) {
  const OpenCall call{observe::python_thread(), name, address, begin};
  if (call.thread == nullptr) return;
  {
    const LockGuard held(newest_lock);
    newest = call;
  }
  std::call_once(started, start_watching, std::cref(own));
}

void end_python_call(std::uint64_t begin) {
  const void* const thread = observe::python_thread();
  const LockGuard held(newest_lock);
  if (newest.begin == begin && newest.thread == thread) newest = {};
}

}  // namespace urakata::profile
