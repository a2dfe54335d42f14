// SPDX-License-Identifier: BSD-3-Clause
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
#include "space/address_ranges.hpp"
#include "space/code_file.hpp"
#include "space/error_signals.hpp"
#include "space/line.hpp"
#include "space/robust_lock.hpp"

namespace urakata::space {
namespace {

constexpr std::span kCrashes = std::span(kErrorSignals).first<kReported>();

struct Trace {
  std::array<CodeFile, 64> calls;
  std::size_t count = 0;
};

_Unwind_Reason_Code add_call(_Unwind_Context* context, void* place) {
  auto& trace = *static_cast<Trace*>(place);
  int interrupted = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &interrupted);
  // This frame is the one that the signal interrupted: the frames before it are the handler's.
  if (interrupted != 0) trace.count = 0;
  if (address == 0 || trace.count == trace.calls.size()) return _URC_END_OF_STACK;
  // A return address may be that of the next function.
  trace.calls[trace.count++].address = interrupted != 0 ? address : address - 1;
  return _URC_NO_REASON;
}

using Words = Line<4400>;  // a path has 4 KiB at most

void say_call(std::size_t number, const CodeFile& call) {
  Words line(log::rank());
  line << "  #" << static_cast<int>(number) << " ";
  if (call.base == 0) {
    line.hex(call.address).end();
    return;
  }
  // File and offset, as addr2line takes them, and the exported function.
  line << call.file << "(+";
  line.hex(call.address - call.base) << ")";
  if (call.symbol != nullptr) line << " " << call.symbol;
  line.end();
}

constinit Membership reporting_task{nullptr, 0};
std::array<struct sigaction, kReported> openmpi_actions;  // Open MPI's handlers, in the order of kCrashes

// Keeps the memory of other tasks out of this task's core dump. If several tasks crash, they dump one after the other:
// a task takes the lock over when its holder has ended. Does nothing in a forked copy of a task, which has no memory of
// other tasks. Does nothing either if the report itself crashes, since this task then holds the lock already.
void leave_others_out_of_dump() {
  Registry& registry = *reporting_task.registry;
  if (registry.tasks[reporting_task.slot].pid.load(std::memory_order_relaxed) != getpid() ||
      registry.dumping.load(std::memory_order_relaxed) == lock_word(reporting_task)) {
    return;
  }
  if (lock_robust(registry.dumping, reporting_task)) advise_own(reporting_task, MADV_DODUMP);
  advise_others(reporting_task, MADV_DONTDUMP);
}

// Calls only what a signal handler may call: the thread may hold, or wait for, any lock of the C library or of the
// dynamic linker. The unwinder takes none of them after its first call, with a C library from version 2.35 on.
void on_crash(int number, siginfo_t* about, void* state) {
  leave_others_out_of_dump();
  const char* name = "";
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    if (kCrashes[i].number != number) continue;
    name = kCrashes[i].name;
    if (openmpi_actions[i].sa_sigaction != nullptr) {
      openmpi_actions[i].sa_sigaction(number, about, state);
      return;
    }
  }
  const bool sent = about->si_code <= 0;
  Words line(log::rank());
  line << "process " << getpid() << ": " << name;
  if (sent) {
    line << " from process " << about->si_pid;
  } else {
    (line << " at address ").hex(reinterpret_cast<std::uintptr_t>(about->si_addr));
  }
  (line << ", in").end();
  static Trace trace;  // not on what may be a small stack
  trace.count = 0;
  _Unwind_Backtrace(&add_call, &trace);
  find_code_files(std::span(trace.calls).first(trace.count));
  for (std::size_t i = 0; i < trace.count; ++i) say_call(i, trace.calls[i]);
  // The handler is reset by now. A failing instruction fails again; a signal that was sent has to be sent again.
  if (sent) raise(number);
}

// Whether the handler is Open MPI's, which prints a backtrace, uninstalls itself, and returns.
bool of_open_mpi(const struct sigaction& handler) {
  Dl_info found{};
  return (handler.sa_flags & SA_SIGINFO) != 0 && dladdr(reinterpret_cast<void*>(handler.sa_sigaction), &found) != 0 &&
         found.dli_fname != nullptr && std::strstr(found.dli_fname, "libopen-pal") != nullptr;
}

// Gives the calling thread a signal stack, so that an overflow of its own stack can be reported.
void give_signals_a_stack() {
  stack_t present{};
  if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
  constexpr std::size_t kBytes = std::size_t{64} << 10U;
  void* const stack = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return;
  const stack_t ours{.ss_sp = stack, .ss_flags = 0, .ss_size = kBytes};
  sigaltstack(&ours, nullptr);
}

}  // namespace

void report_crashes(const Membership& membership) {
  reporting_task = membership;
  give_signals_a_stack();
  Trace first;
  _Unwind_Backtrace(&add_call, &first);  // the unwinder allocates its tables on the first call
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    struct sigaction present {};
    if (sigaction(kCrashes[i].number, nullptr, &present) != 0) continue;
    if (present.sa_handler != SIG_DFL) {
      if (!of_open_mpi(present)) continue;
      openmpi_actions[i] = present;
    }
    struct sigaction ours {};
    ours.sa_sigaction = &on_crash;
    ours.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
    sigaction(kCrashes[i].number, &ours, nullptr);
  }
}

}  // namespace urakata::space
