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
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/launcher.hpp"
#include "base/log.hpp"
#include "space/attributes.hpp"
#include "space/meeting.hpp"

namespace urakata::space {
namespace {

constexpr const char* kPostVariable = "URAKATA_STAND_IN";
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

// What a stand-in has to know. Handed from urakata-exec to urakata-stand-in as numbers in decimal digits.
struct Post {
  int socket = -1;  // to the keeper
  pid_t task = 0;
  pid_t keeper = 0;
  int shared_group = 0;  // the task is in this process's group
  pid_t parent = 0;      // the launcher, where there is one
  int rank = -1;         // as the launcher says
};

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
  explicit StandIn(const Post& post)
      : socket_(post.socket), task_(post.task), keeper_(post.keeper), shared_group_(post.shared_group != 0) {
    const sigset_t passed = passed_signals();
    signals_ = Descriptor(signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
#ifdef SYS_pidfd_open
    if (post.rank >= 0) launcher_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, post.parent, 0)));
#endif
    launcher_gone_ = post.rank >= 0 && getppid() != post.parent;
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

// The words that this process was started with.
std::vector<std::string> own_words() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

// Goes on as the small program, which keeps this one's words. Returns where there is none to be run.
void become_small(const Post& post, const std::string& program) {
  std::array<char, 128> numbers{};
  std::snprintf(numbers.data(), numbers.size(), "%s=%d %d %d %d %d %d", kPostVariable, post.socket, post.task,
                post.keeper, post.shared_group, post.parent, post.rank);
  std::vector<std::string> words = own_words();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  char* const environment[] = {numbers.data(), nullptr};
  fcntl(post.socket, F_SETFD, 0);
  execve(program.c_str(), arguments.data(), environment);
  fcntl(post.socket, F_SETFD, FD_CLOEXEC);
}

}  // namespace

bool stand_in_as_told() {
  const char* const numbers = std::getenv(kPostVariable);
  Post post;
  if (numbers == nullptr || std::sscanf(numbers, "%d %d %d %d %d %d", &post.socket, &post.task, &post.keeper,
                                        &post.shared_group, &post.parent, &post.rank) != 6) {
    return false;
  }
  fcntl(post.socket, F_SETFD, FD_CLOEXEC);
  log::set_rank(post.rank);
  StandIn(post).serve();
}

Error stand_in_for(const Command& command, const std::string& keeper, const std::string& small) {
  const pid_t parent = getppid();
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
      const bool shared_group = attributes.process_group == ProcessGroup::shared;
      const Post post{socket->release(), note.value, note.sender, shared_group ? 1 : 0, parent, launcher().rank};
      let_go_of(descriptors);
      become_small(post, small);
      StandIn(post).serve();
    }
    reason = Error{note.text.data()};
    break;
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return reason;
}

}  // namespace urakata::space
