// SPDX-License-Identifier: BSD-3-Clause
// urakata-proxy: what urakata-exec --space becomes once its program runs in the space (space/proxy_process.hpp says
// what it does). Each rank has one, so it is as small as a process can be: no C library, system calls only, 12 KiB of
// memory of its own. It has one thread. All signals that other processes may send are blocked when it starts.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "space/error_signals.hpp"
#include "space/handover.hpp"
#include "space/line.hpp"
#include "space/proxy_parameters.hpp"
#include "space/raw.hpp"

// Functions that the compiler may call in any program.
extern "C" {
void* memset(void* to, int byte, std::size_t count) {
  auto* const bytes = static_cast<volatile unsigned char*>(to);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>(byte);
  return to;
}
void* memcpy(void* __restrict to, const void* __restrict from, std::size_t count) {
  auto* const target = static_cast<volatile unsigned char*>(to);
  const auto* const source = static_cast<const unsigned char*>(from);
  for (std::size_t i = 0; i < count; ++i) target[i] = source[i];
  return to;
}
}

namespace urakata::space {
namespace {

constexpr std::size_t kSignalBytes = 8;
constexpr int kTimedWords = 3;

[[noreturn]] void leave(int code) {
  while (true) raw::call(SYS_exit_group, code);
}

int own_pid() { return static_cast<int>(raw::call(SYS_getpid)); }

// Ends this process by the signal that ended the task.
[[noreturn]] void die_by(int number) {
  const rlimit64 no_core{0, 0};
  raw::call(SYS_prlimit64, 0, RLIMIT_CORE, raw::word(&no_core));
  const std::uint64_t by_default[4] = {};  // handler, flags, restorer, mask
  raw::call(SYS_rt_sigaction, number, raw::word(by_default), 0, kSignalBytes);
  raw::call(SYS_kill, own_pid(), number);
  const std::uint64_t one = signal_bit(number);
  raw::call(SYS_rt_sigprocmask, SIG_UNBLOCK, raw::word(&one), 0, kSignalBytes);
  leave(128 + number);  // if the signal's default action does not end a process
}

class ProxyProcess {
 public:
  explicit ProxyProcess(const ProxyParameters& parameters) : parameters_(parameters) {
    raw::call(SYS_fcntl, parameters.socket, F_SETFD, FD_CLOEXEC);
    signals_ = static_cast<int>(
        raw::call(SYS_signalfd4, -1, raw::word(&kPassedSignals), kSignalBytes, SFD_CLOEXEC | SFD_NONBLOCK));
    if (parameters.rank < 0) return;
#ifdef SYS_pidfd_open
    launcher_ = static_cast<int>(raw::call(SYS_pidfd_open, parameters.parent, 0));
#endif
    launcher_gone_ = raw::call(SYS_getppid) != parameters.parent;
  }

  [[noreturn]] void serve() const {
    while (true) {
      pollfd watched[] = {{parameters_.socket, POLLIN, 0}, {signals_, POLLIN, 0}, {launcher_, POLLIN, 0}};
      if (!launcher_gone_ && raw::call(SYS_ppoll, raw::word(watched), kTimedWords, 0, 0, kSignalBytes) < 0) continue;
      if (watched[0].revents != 0) hear_daemon();
      if (watched[1].revents != 0) pass_signals();
      if (watched[2].revents != 0 || launcher_gone_) {
        // The space daemon sees this process end, and ends the task.
        (Line<>(parameters_.rank) << "the launcher is gone; process " << parameters_.task << " ends with it").end();
        leave(1);
      }
    }
  }

 private:
  void hear_daemon() const {
    Note note;
    long bytes = 0;
    do {
      bytes = raw::call(SYS_recvfrom, parameters_.socket, raw::word(&note), sizeof note);
    } while (bytes == -EINTR || bytes == -ECONNRESET);  // as in receive_note()
    if (bytes != sizeof note) {
      (Line<>(parameters_.rank) << "the space daemon has died, and process " << parameters_.task << " with it").end();
      if (parameters_.shared_group == 0) raw::call(SYS_kill, -parameters_.task, SIGKILL);
      // A launcher kills the other proxies as soon as one is gone, and each has its task's children to kill first.
      const timespec grace{0, 200'000'000};
      raw::call(SYS_nanosleep, raw::word(&grace), 0);
      die_by(SIGKILL);
    }
    if (note.kind == NoteKind::stopped) raw::call(SYS_kill, own_pid(), SIGSTOP);
    if (note.kind == NoteKind::ended) end_with(note.value);
  }

  [[noreturn]] void end_with(int status) const {
    if (!WIFSIGNALED(status)) leave(WEXITSTATUS(status));
    const int number = WTERMSIG(status);
    for (const ErrorSignal& one : kErrorSignals) {
      if (one.number != number) continue;
      (Line<>(parameters_.rank) << "process " << parameters_.task << " died of " << one.name << " (" << one.meaning
                                << ")")
          .end();
    }
    die_by(number);
  }

  void pass_signals() const {
    signalfd_siginfo about{};
    while (raw::call(SYS_read, signals_, raw::word(&about), sizeof about) == sizeof about) {
      const auto number = static_cast<int>(about.ssi_signo);
      if (number == SIGCHLD) continue;
      // A terminal signals the whole process group, which includes the task.
      if (parameters_.shared_group != 0 && about.ssi_code == SI_KERNEL) continue;
      // The space daemon sent SIGCONT to this process because the task continues already.
      if (number == SIGCONT && about.ssi_code == SI_USER && static_cast<pid_t>(about.ssi_pid) == parameters_.daemon)
        continue;
      const Note note{NoteKind::signal, number, own_pid(), {}};
      raw::call(SYS_sendto, parameters_.socket, raw::word(&note), sizeof note, MSG_NOSIGNAL);
    }
  }

  const ProxyParameters parameters_;
  int signals_ = -1;
  int launcher_ = -1;  // pidfd, readable when the launcher has ended; -1: no launcher to watch
  bool launcher_gone_ = false;
};

// The value of `name` in the environment; nullptr: not set.
const char* variable(char** environment, const char* name) {
  for (; *environment != nullptr; ++environment) {
    const char* at = *environment;
    const char* wanted = name;
    while (*wanted != '\0' && *at == *wanted) ++at, ++wanted;
    if (*wanted == '\0' && *at == '=') return at + 1;
  }
  return nullptr;
}

int next_number(const char*& text) {
  while (*text == ' ') ++text;
  const bool negative = *text == '-';
  if (negative) ++text;
  int number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + (*text - '0');
  return negative ? -number : number;
}

}  // namespace
}  // namespace urakata::space

// `stack` is as the kernel leaves it: number of arguments, arguments, nullptr, environment, nullptr.
extern "C" [[noreturn, gnu::used]] void urakata_begin(long* stack) {
  namespace space = urakata::space;
  const char* text = space::variable(reinterpret_cast<char**>(stack + 1 + stack[0] + 1), space::kProxyVariable);
  if (text == nullptr) {
    static constexpr char kBadUse[] = "urakata-proxy is started by urakata-exec --space, and not by hand\n";
    space::raw::call(SYS_write, 2, space::raw::word(kBadUse), sizeof kBadUse - 1);
    space::leave(2);
  }
  space::ProxyParameters parameters;
  for (int* const one : {&parameters.socket, &parameters.task, &parameters.daemon, &parameters.shared_group,
                         &parameters.parent, &parameters.rank}) {
    *one = space::next_number(text);
  }
  space::raw::call(SYS_prctl, PR_SET_NAME, space::raw::word("urakata-exec"));  // the name under which it was started
  space::ProxyProcess(parameters).serve();
}

#if defined(__x86_64__)
asm(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall urakata_begin\n");
#elif defined(__aarch64__)
asm(".globl _start\n_start:\n\tmov x29, xzr\n\tmov x30, xzr\n\tmov x0, sp\n\tbl urakata_begin\n");
#endif
