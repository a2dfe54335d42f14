// SPDX-License-Identifier: BSD-3-Clause
#include "space/proxy_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/file_bytes.hpp"
#include "base/launcher.hpp"
#include "base/log.hpp"
#include "space/attributes.hpp"
#include "space/meeting.hpp"
#include "space/proxy_parameters.hpp"

namespace urakata::space {
namespace {

constexpr int kDaemonAttempts = 5;  // more than one, since a daemon may be about to end when it is found

std::uint64_t bits(const sigset_t& set) {
  std::uint64_t word = 0;
  for (int number = 1; number <= 64; ++number) {
    if (sigismember(&set, number) == 1) word |= signal_bit(number);
  }
  return word;
}

sigset_t passed_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number = 1; number <= 64; ++number) {
    if ((kPassedSignals & signal_bit(number)) != 0) sigaddset(&set, number);
  }
  return set;
}

// Whether the launcher died before this process could look at its parent. The parent does not tell: it is then the
// process that adopts orphans, which in a container may be a launcher too. But the readers of our output have gone.
bool orphaned_at_start() {
  std::array<pollfd, 2> outputs = {{{STDOUT_FILENO, 0, 0}, {STDERR_FILENO, 0, 0}}};
  return launcher().rank >= 0 && poll(outputs.data(), outputs.size(), 0) > 0 &&
         ((outputs[0].revents | outputs[1].revents) & (POLLERR | POLLHUP)) != 0;
}

// Closes the descriptors that the task has now: a pipe ends only when its last holder closes it. Descriptor 2 stays for
// messages. The connection to Hydra stays too. Hydra takes its end for the end of the rank, and would kill this process
// before it could tell how the task ended.
void close_all(const std::vector<int>& descriptors) {
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

// The arguments that this process was started with.
std::vector<std::string> own_words() {
  const std::string all = file_bytes("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::size_t at = 0; at < all.size(); at += words.back().size() + 1) words.emplace_back(all.c_str() + at);
  return words;
}

// Executes urakata-proxy, with the arguments of this process.
[[noreturn]] void exec_proxy(const std::string& program, const ProxyParameters& parameters) {
  std::array<char, 128> numbers{};
  std::snprintf(numbers.data(), numbers.size(), "%s=%d %d %d %d %d %d", kProxyVariable, parameters.socket,
                parameters.task, parameters.daemon, parameters.shared_group, parameters.parent, parameters.rank);
  std::vector<std::string> words = own_words();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  char* const environment[] = {numbers.data(), nullptr};
  fcntl(parameters.socket, F_SETFD, 0);
  execve(program.c_str(), arguments.data(), environment);
  log::error("cannot run %s (%s); process %d ends", program.c_str(), std::strerror(errno), parameters.task);
  _exit(1);  // the space daemon sees the connection end, and kills the task
}

}  // namespace

Error become_proxy(const Command& command, const std::string& daemon, const std::string& proxy) {
  if (access(proxy.c_str(), X_OK) != 0) {
    return Error{"there is no " + proxy + " that may be run; is this installation of Urakata complete?"};
  }
  const pid_t parent = getppid();
  if (orphaned_at_start()) _exit(1);  // nobody reads a message
  const sigset_t passed = passed_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &passed, &before);
  const std::vector<int> descriptors = inheritable_descriptors();
  const Attributes attributes = own_attributes(bits(before));
  const std::string name = meeting_name(job_identity());
  Error reason{"the space daemon ended again and again"};
  for (int attempt = 0; attempt < kDaemonAttempts; ++attempt) {
    Result<Descriptor> socket = connect_to_daemon(name, daemon);
    if (!socket) {
      reason = socket.error();
      break;
    }
    if (Status sent = send_handover(socket->number(), command, attributes, descriptors); !sent) {
      reason = sent.error();
      if (errno != EPIPE && errno != ECONNRESET) break;
    }
    Note note;  // read even if the daemon did not take everything: it may say why
    if (!receive_note(socket->number(), note)) continue;
    if (note.kind == NoteKind::started) {
      const bool shared_group = attributes.process_group == ProcessGroup::shared;
      const ProxyParameters parameters{socket->release(),    note.value, note.sender,
                                       shared_group ? 1 : 0, parent,     launcher().rank};
      close_all(descriptors);
      exec_proxy(proxy, parameters);
    }
    reason = Error{note.text.data()};
    break;
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return reason;
}

}  // namespace urakata::space
