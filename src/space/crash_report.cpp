#include "space/crash_report.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/log.hpp"
#include "space/error_signals.hpp"
#include "space/territory.hpp"
#include "space/turn.hpp"

namespace urakata::space {
namespace {

constexpr std::span kCrashes = std::span(kErrorSignals).first<kReported>();

struct Trace {
  std::array<std::uintptr_t, 64> calls;
  std::size_t count = 0;
};

_Unwind_Reason_Code add_call(_Unwind_Context* context, void* place) {
  auto& trace = *static_cast<Trace*>(place);
  int interrupted = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &interrupted);
  // What the signal interrupted: the frames before are those of the handler.
  if (interrupted != 0) trace.count = 0;
  if (address == 0 || trace.count == trace.calls.size()) return _URC_END_OF_STACK;
  // A return address may be that of the next function.
  trace.calls[trace.count++] = interrupted != 0 ? address : address - 1;
  return _URC_NO_REASON;
}

void say_call(std::size_t number, std::uintptr_t address) {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void*>(address), &found) == 0) {  // NOLINT(performance-no-int-to-ptr)
    log::error("  #%zu 0x%zx", number, static_cast<std::size_t>(address));
    return;
  }
  const std::size_t offset = address - reinterpret_cast<std::uintptr_t>(found.dli_fbase);
  // File and offset, as addr2line takes them, and the exported function before it.
  const bool exported = found.dli_sname != nullptr;
  log::error("  #%zu %s(+0x%zx)%s%s", number, found.dli_fname, offset, exported ? " " : "",
             exported ? found.dli_sname : "");
}

constinit Membership own_task{nullptr, 0};
std::array<struct sigaction, kReported> hosts;  // Open MPI's handlers, in the order of kCrashes

// In a forked copy of the task the others' memory is not there. Where several tasks fail, one dumps after the other;
// the turn ends with the process. A failure of what reports the first is the same process's.
void leave_others_out_of_dump() {
  Registry& registry = *own_task.registry;
  const pid_t self = getpid();
  if (registry.tasks[own_task.slot].pid.load(std::memory_order_relaxed) != self ||
      registry.dumping.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(self)) {
    return;
  }
  if (take_turn(registry.dumping, self)) advise_own(own_task, MADV_DODUMP);
  advise_others(own_task, MADV_DONTDUMP);
}

void on_crash(int number, siginfo_t* about, void* state) {
  leave_others_out_of_dump();
  const char* name = "";
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    if (kCrashes[i].number != number) continue;
    name = kCrashes[i].name;
    if (hosts[i].sa_sigaction != nullptr) {
      hosts[i].sa_sigaction(number, about, state);
      return;
    }
  }
  const bool sent = about->si_code <= 0;
  if (sent) {
    log::error("process %d: %s from process %d, in", getpid(), name, about->si_pid);
  } else {
    log::error("process %d: %s at address %p, in", getpid(), name, about->si_addr);
  }
  Trace trace;
  _Unwind_Backtrace(&add_call, &trace);
  for (std::size_t i = 0; i < trace.count; ++i) say_call(i, trace.calls[i]);
  // The handler is gone: the failing instruction fails again, and what was sent has to be sent again.
  if (sent) raise(number);
}

// It prints a list of calls, takes itself off, and returns.
bool of_open_mpi(const struct sigaction& handler) {
  Dl_info found{};
  return (handler.sa_flags & SA_SIGINFO) != 0 && dladdr(reinterpret_cast<void*>(handler.sa_sigaction), &found) != 0 &&
         found.dli_fname != nullptr && std::strstr(found.dli_fname, "libopen-pal") != nullptr;
}

}  // namespace

void report_crashes(const Membership& membership) {
  own_task = membership;
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    struct sigaction present {};
    if (sigaction(kCrashes[i].number, nullptr, &present) != 0) continue;
    if (present.sa_handler != SIG_DFL) {
      if (!of_open_mpi(present)) continue;
      hosts[i] = present;
    }
    struct sigaction ours {};
    ours.sa_sigaction = &on_crash;
    ours.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
    sigaction(kCrashes[i].number, &ours, nullptr);
  }
}

}  // namespace urakata::space
