// SPDX-License-Identifier: BSD-3-Clause
#include "space/spawn.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/system_error.hpp"
#include "base/waiting.hpp"
#include "space/raw.hpp"

namespace urakata::space {
namespace {

constexpr std::uint32_t kBusy = 0;
constexpr std::uint32_t kReady = 1;
constexpr std::uint64_t kChildCheck = 10'000'000;  // ns between checks whether the new process is still alive
constexpr std::size_t kSignalBytes = 8;
constexpr int kHighestSignal = 64;
constexpr int kFutexWakePrivate = 129;

// State that the daemon and the new process share. Both are in one address space.
struct SpawnState {
  const SpawnRequest* request = nullptr;
  pid_t daemon = 0;
  std::atomic<std::uint32_t> stage{kBusy};
  const char* failed_step = nullptr;
  int failure = 0;
};

// The move whose source is this descriptor; nullptr: none.
DescriptorMove* who_sits_on(std::span<DescriptorMove> moves, int number) {
  for (DescriptorMove& one : moves) {
    if (one.from == number) return &one;
  }
  return nullptr;
}

void close_range(int first, int last) {
  if (first > last) return;
#ifdef SYS_close_range
  if (raw::call(SYS_close_range, first, last, 0) == 0) return;
#endif
  for (int number = first; number <= last; ++number) raw::call(SYS_close, number);
}

// Closes the descriptors that are not the target of a move.
void close_others(std::span<const DescriptorMove> moves, int highest) {
  for (int first = 0; first <= highest;) {
    int next = highest + 1;  // the lowest target from `first` on
    for (const DescriptorMove& one : moves) {
      if (one.to >= first && one.to < next) next = one.to;
    }
    close_range(first, next - 1);
    first = next + 1;
  }
}

long set_limits(const Attributes& attributes) {
  for (unsigned kind = 0; kind < attributes.limits.size(); ++kind) {
    const rlimit& wanted = attributes.limits[kind];
    rlimit present{};
    raw::call(SYS_prlimit64, 0, kind, 0, raw::word(&present));
    if (present.rlim_cur == wanted.rlim_cur && present.rlim_max == wanted.rlim_max) continue;
    if (const long result = raw::call(SYS_prlimit64, 0, kind, raw::word(&wanted)); result < 0) return result;
  }
  return 0;
}

void set_signals(const Attributes& attributes) {
  // In the kernel's form: handler, flags, restorer, mask.
  std::array<std::uint64_t, 4> action{};
  for (int number = 1; number <= kHighestSignal; ++number) {
    const bool ignored = (attributes.ignored >> static_cast<unsigned>(number - 1) & 1U) != 0;
    action[0] = ignored ? 1 : 0;  // SIG_IGN, SIG_DFL
    raw::call(SYS_rt_sigaction, number, raw::word(action.data()), 0, kSignalBytes);
  }
}

long set_group(const Attributes& attributes) {
  if (attributes.process_group == ProcessGroup::session) return raw::call(SYS_setsid);
  if (attributes.process_group == ProcessGroup::shared) {
    return raw::call(SYS_setpgid, 0, attributes.shared_group);
  }
  return raw::call(SYS_setpgid, 0, 0);
}

// Runs in the new process, on its own stack, with the daemon's thread-local storage: so it makes raw system calls only.
[[noreturn]] void become_program(SpawnState& state) {
  const SpawnRequest& request = *state.request;
  const Attributes& attributes = *request.attributes;
  const auto must = [&state](long result, const char* step) {
    if (result >= 0) return;
    state.failed_step = step;
    state.failure = static_cast<int>(-result);
    raw::call(SYS_exit_group, 127);
  };
  must(raw::call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL), "prctl");
  if (raw::call(SYS_getppid) != state.daemon) raw::call(SYS_exit_group, 127);
  request.record->pid.store(static_cast<pid_t>(raw::call(SYS_getpid)), std::memory_order_release);
  must(set_group(attributes), "joining its process group");
  raw::call(SYS_prctl, PR_SET_NAME, raw::word(request.name.data()));
  set_signals(attributes);
  must(raw::call(SYS_fchdir, request.directory), "entering its directory");
  must(move_descriptors(request.descriptors, request.highest_descriptor) ? 0 : -EMFILE, "placing its descriptors");
  raw::call(SYS_umask, attributes.umask);
  must(set_limits(attributes), "setting its limits");
  must(raw::call(SYS_setpriority, PRIO_PROCESS, 0, attributes.nice), "setting its nice value");
  must(set_preference(attributes.preference), "setting its scheduling or memory policy");
  must(raw::call(SYS_sched_setaffinity, 0, sizeof attributes.cpus, raw::word(attributes.cpus.data())),
       "binding it to its CPUs");
  raw::call(SYS_rt_sigprocmask, SIG_SETMASK, raw::word(&attributes.blocked), 0, kSignalBytes);

  std::byte* const stack = request.stack;
  const std::uint64_t entry = request.entry;
  // From the store on the daemon may free `request` and `state`. The wake-up only uses the address of `stage`.
  std::atomic<std::uint32_t>* const stage = &state.stage;
  stage->store(kReady, std::memory_order_release);
  raw::call(SYS_futex, raw::word(stage), kFutexWakePrivate, 1);
  raw::enter(stack, entry);
}

int child_main(void* state) { become_program(*static_cast<SpawnState*>(state)); }

bool has_ended(pid_t pid) {
  siginfo_t about{};
  return waitid(P_PID, static_cast<id_t>(pid), &about, WEXITED | WNOHANG | WNOWAIT) != 0 || about.si_pid == pid;
}

}  // namespace

bool move_descriptors(std::span<DescriptorMove> moves, int highest) {
  for (DescriptorMove& one : moves) {
    while (one.from != one.to) {
      DescriptorMove* const sitting = who_sits_on(moves, one.to);
      if (sitting != nullptr) {
        const long elsewhere = raw::call(SYS_dup, sitting->from);
        if (elsewhere < 0) return false;
        sitting->from = static_cast<int>(elsewhere);
        if (sitting->from > highest) highest = sitting->from;
        continue;
      }
      if (raw::call(SYS_dup3, one.from, one.to, 0) < 0) return false;
      if (one.to > highest) highest = one.to;
      one.from = one.to;
    }
  }
  // A descriptor that kept its number may be marked close-on-exec.
  for (const DescriptorMove& one : moves) raw::call(SYS_fcntl, one.to, F_SETFD, 0);
  close_others(moves, highest);
  return true;
}

Result<pid_t> spawn(const SpawnRequest& request) {
  SpawnState state;
  state.request = &request;
  state.daemon = getpid();
  // The new process starts below the program's arguments, so that its own frames do not overwrite them.
  constexpr std::size_t kRedZone = 256;
  const pid_t pid = clone(&child_main, request.stack - kRedZone, CLONE_VM | SIGCHLD, &state);
  if (pid < 0) return Error{std::string("the kernel refuses another process (") + std::strerror(errno) + ")"};
  while (state.stage.load(std::memory_order_acquire) == kBusy) {
    futex_wait(state.stage, kBusy, kChildCheck);
    if (state.stage.load(std::memory_order_acquire) == kBusy && has_ended(pid)) {
      // Without a failed step the process was killed. The daemon learns of that as of the end of any task.
      if (state.failed_step == nullptr) return pid;
      waitpid(pid, nullptr, 0);
      return system_error(state.failed_step, state.failure);
    }
  }
  return pid;
}

}  // namespace urakata::space
