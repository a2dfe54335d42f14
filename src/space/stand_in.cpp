#include "space/stand_in.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "base/launcher.hpp"
#include "base/log.hpp"
#include "space/attributes.hpp"
#include "space/meeting.hpp"

namespace urakata::space {
namespace {

constexpr int kAttempts = 5;  // a keeper may be about to end when it is found
// Those by which a program's own errors end it.
constexpr std::array<std::pair<int, const char*>, 7> kErrorSignals = {{{SIGSEGV, "SIGSEGV"},
                                                                       {SIGBUS, "SIGBUS"},
                                                                       {SIGILL, "SIGILL"},
                                                                       {SIGFPE, "SIGFPE"},
                                                                       {SIGABRT, "SIGABRT"},
                                                                       {SIGSYS, "SIGSYS"},
                                                                       {SIGTRAP, "SIGTRAP"}}};

std::uint64_t bits(const sigset_t& set) {
  std::uint64_t word = 0;
  for (unsigned number = 1; number <= 64; ++number) {
    if (sigismember(&set, static_cast<int>(number)) == 1) word |= std::uint64_t{1} << (number - 1);
  }
  return word;
}

// All that others may send; not those of this process's own mistakes.
sigset_t passed_signals() {
  sigset_t set;
  sigfillset(&set);
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) sigdelset(&set, number);
  return set;
}

// As the task did.
[[noreturn]] void die_by(int number) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  kill(getpid(), number);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  _exit(128 + number);  // where the signal's default is not to end a process
}

class StandIn {
 public:
  // `started` is the keeper's note of that kind.
  StandIn(Descriptor socket, const Note& started, const Attributes& attributes, pid_t parent)
      : socket_(std::move(socket)),
        task_(started.value),
        keeper_(started.sender),
        shared_group_(attributes.process_group == ProcessGroup::shared) {
    const sigset_t passed = passed_signals();
    signals_ = Descriptor(signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
#ifdef SYS_pidfd_open
    if (launcher().rank >= 0) launcher_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, parent, 0)));
#endif
    launcher_gone_ = launcher().rank >= 0 && getppid() != parent;
  }

  [[noreturn]] void serve() {
    while (true) {
      std::array<pollfd, 3> watched = {
          {{socket_.number(), POLLIN, 0}, {signals_.number(), POLLIN, 0}, {launcher_.number(), POLLIN, 0}}};
      if (!launcher_gone_ && poll(watched.data(), watched.size(), -1) < 0) continue;
      if (watched[0].revents != 0) hear_keeper();
      if (watched[1].revents != 0) pass_signals();
      if (watched[2].revents != 0 || launcher_gone_) {
        // The keeper sees this process end, and ends the task.
        log::error("the launcher is gone; process %d ends with it", task_);
        _exit(1);
      }
    }
  }

 private:
  void hear_keeper() {
    Note note;
    if (!receive_note(socket_.number(), note)) {
      log::error("the keeper of the space has died, and process %d with it", task_);
      if (!shared_group_) kill(-task_, SIGKILL);
      // A launcher kills the other stand-ins as soon as one is gone, and each has its task's children to end first.
      const timespec grace{0, 200'000'000};
      nanosleep(&grace, nullptr);
      die_by(SIGKILL);
    }
    if (note.kind == NoteKind::stopped) kill(getpid(), SIGSTOP);
    if (note.kind == NoteKind::ended) end_with(note.value);
  }

  [[noreturn]] void end_with(int status) const {
    if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
    const int number = WTERMSIG(status);
    for (const auto& [one, name] : kErrorSignals) {
      if (one == number) log::error("process %d died of %s (%s)", task_, name, strsignal(number));
    }
    die_by(number);
  }

  void pass_signals() {
    signalfd_siginfo about{};
    while (read(signals_.number(), &about, sizeof about) == sizeof about) {
      const auto number = static_cast<int>(about.ssi_signo);
      const auto sender = static_cast<pid_t>(about.ssi_pid);
      if (number == SIGCHLD) continue;
      // A terminal signals the whole group, of which the task is.
      if (shared_group_ && about.ssi_code == SI_KERNEL) continue;
      // The keeper woke this process because the task goes on already.
      if (number == SIGCONT && about.ssi_code == SI_USER && sender == keeper_) continue;
      send_note(socket_.number(), NoteKind::signal, number);
    }
  }

  Descriptor socket_;
  Descriptor signals_;
  Descriptor launcher_;  // readable when the launcher has ended; -1 where there is none to watch
  pid_t task_;
  pid_t keeper_;
  bool shared_group_;
  bool launcher_gone_ = false;
};

// Whether the launcher died before this process could look at its parent. Nothing else tells: the parent is then
// whoever takes orphans, and that may be a launcher too, in a container. But those who read our output are gone.
bool orphaned_at_start() {
  std::array<pollfd, 2> outputs = {{{STDOUT_FILENO, 0, 0}, {STDERR_FILENO, 0, 0}}};
  return launcher().rank >= 0 && poll(outputs.data(), outputs.size(), 0) > 0 &&
         ((outputs[0].revents | outputs[1].revents) & (POLLERR | POLLHUP)) != 0;
}

// What the task has now must not stay open here: pipes end when their last holder closes them. Messages still go to
// descriptor 2. The connection to Hydra stays: it takes the end of that for the end of the rank, and would kill this
// process before it could tell how the task ended.
void let_go_of(const std::vector<int>& descriptors) {
  const char* const process_manager = std::getenv("PMI_FD");
  const int kept = process_manager != nullptr ? std::atoi(process_manager) : -1;
  const Descriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int number : descriptors) {
    if (number > 2 && number != kept) close(number);
  }
  for (const int number : {STDIN_FILENO, STDOUT_FILENO}) {
    if (nothing) dup2(nothing.number(), number);
  }
}

}  // namespace

Error stand_in_for(const Command& command, const std::string& keeper) {
  const pid_t parent = getppid();
  if (orphaned_at_start()) _exit(1);  // nobody reads a message
  const sigset_t passed = passed_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &passed, &before);
  const std::vector<int> descriptors = inheritable_descriptors();
  const Attributes attributes = own_attributes(bits(before));
  const std::string name = meeting_name(job_identity());
  Error reason{"its keeper ended again and again"};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Result<Descriptor> socket = meet_keeper(name, keeper);
    if (!socket) {
      reason = socket.error();
      break;
    }
    if (Status sent = send_handover(socket->number(), command, attributes, descriptors); !sent) {
      reason = sent.error();
      if (errno == EPIPE || errno == ECONNRESET) continue;
      break;
    }
    Note note;
    if (!receive_note(socket->number(), note)) continue;
    if (note.kind == NoteKind::started) {
      StandIn stand_in(std::move(*socket), note, attributes, parent);
      let_go_of(descriptors);
      stand_in.serve();
    }
    reason = Error{note.text.data()};
    break;
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return reason;
}

}  // namespace urakata::space
