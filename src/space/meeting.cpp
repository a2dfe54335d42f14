// SPDX-License-Identifier: BSD-3-Clause
#include "space/meeting.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/file_bytes.hpp"
#include "base/hash.hpp"
#include "base/system_error.hpp"
#include "space/handover.hpp"
#include "space/registry.hpp"

namespace urakata::space {
namespace {

constexpr int kBacklog = 512;
constexpr int kCallAttempts = 2000;  // with pauses of 1 ms, until the process that has bound the name listens

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

struct Process {
  std::string name;   // first 15 characters of its name
  pid_t parent = 0;   // 0: none that is visible here
  std::string start;  // time of its start in the kernel's ticks; with it a pid is unique
};

// Reads /proc/PID/stat. All members are empty if there is no such process.
Process process(pid_t pid) {
  const std::string all = file_bytes("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_begin = all.find('(');
  const std::size_t name_end = all.rfind(')');
  if (name_begin == std::string::npos || name_end == std::string::npos || name_end < name_begin) return {};
  Process found;
  found.name = all.substr(name_begin + 1, name_end - name_begin - 1);
  std::string_view rest = std::string_view(all).substr(name_end + 1);
  constexpr int kParent = 1;
  constexpr int kStart = 19;
  for (int i = 0; i <= kStart; ++i) {
    const std::size_t blank = rest.find(' ', 1);
    if (blank == std::string_view::npos) break;
    const std::string_view field = rest.substr(1, blank - 1);
    if (i == kParent) std::from_chars(field.data(), field.data() + field.size(), found.parent);
    if (i == kStart) found.start = field;
    rest.remove_prefix(blank);
  }
  return found;
}

std::string identity_by(pid_t pid, const Process& about) { return "parent " + std::to_string(pid) + " " + about.start; }

// Processes that start the ranks of one job on a node, with no variable that names the job. Each job has its own.
constexpr std::array<std::string_view, 3> kNamelessJobs = {"hydra_pmi_proxy", "pmi_proxy", "mpiexec.gforker"};
// Launchers whose variables name the job.
constexpr std::array<std::string_view, 10> kNamedJobs = {"prterun", "prted", "orted",      "mpirun", "mpiexec",
                                                         "orterun", "prun",  "slurmstepd", "srun",   "prte"};
constexpr int kMostAncestors = 64;

// The job of the nearest launcher among the ancestors, if it is one of kNamelessJobs; else empty.
std::string nameless_job() {
  pid_t pid = getppid();
  for (int i = 0; i < kMostAncestors && pid > 1; ++i) {
    const Process about = process(pid);
    if (std::ranges::find(kNamelessJobs, about.name) != kNamelessJobs.end()) return identity_by(pid, about);
    if (std::ranges::find(kNamedJobs, about.name) != kNamedJobs.end()) return {};
    pid = about.parent;
  }
  return {};
}

struct Address {
  explicit Address(const std::string& name) {
    address.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
    std::memcpy(address.sun_path + 1, name.data(), length);  // the zero in front makes it abstract
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t bytes = 0;
};

Descriptor new_socket() { return Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

// Executes the space daemon, which keeps the two sockets and no other descriptor of this process.
[[noreturn]] void become_daemon(const char* program, int listening, int founder, int highest) {
  const int nothing = open("/dev/null", O_RDWR);
  // Moves both away from the numbers that dup2() is about to replace.
  listening = fcntl(listening, F_DUPFD, kFounderDescriptor + 1);
  founder = fcntl(founder, F_DUPFD, kFounderDescriptor + 1);
  if (nothing < 0 || listening < 0 || founder < 0) _exit(127);
  for (int number = 0; number < 3; ++number) dup2(nothing, number);
  dup2(listening, kListeningDescriptor);
  dup2(founder, kFounderDescriptor);
  for (int number = kFounderDescriptor + 1; number <= highest; ++number) close(number);
  char name[] = "urakata-spaced";
  char* const arguments[] = {name, nullptr};
  char* const environment[] = {nullptr};
  execve(program, arguments, environment);
  _exit(127);
}

// Starts a space daemon and returns the first connection to it. The connection exists before the daemon runs: if this
// process dies, the daemon sees it and ends.
Result<Descriptor> bring_up(Descriptor listening, const std::string& daemon) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return system_error("making a socket");
  Descriptor mine(ends[0]);
  const Descriptor its(ends[1]);
  const int highest = highest_descriptor() + 3;  // with the three that the child opens
  const pid_t between = fork();
  if (between < 0) return system_error("starting the space daemon");
  if (between == 0) {
    const pid_t child = fork();
    if (child == 0) become_daemon(daemon.c_str(), listening.number(), its.number(), highest);
    _exit(child < 0 ? 1 : 0);
  }
  int status = 0;
  while (waitpid(between, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return Error{"starting the space daemon failed: the limit of processes (ulimit -u) is reached"};
  return mine;
}

}  // namespace

std::string job_identity() {
  if (std::string job = nameless_job(); !job.empty()) return job;
  if (const std::string job = variable("PMIX_NAMESPACE"); !job.empty()) return "pmix " + job;
  if (const std::string job = variable("SLURM_JOB_ID"), step = variable("SLURM_STEP_ID");
      !job.empty() && !step.empty()) {
    return "slurm " + job + "." + step;
  }
  if (const std::string job = variable("PMI_JOBID"); !job.empty()) return "pmi " + job;
  if (std::string job = variable(kJobVariable); !job.empty()) return job;
  const pid_t parent = getppid();
  return identity_by(parent, process(parent));
}

std::string meeting_name(const std::string& job) {
  std::string all = job;
  for (const char* kind : {"mnt", "pid", "user", "ipc", "uts", "cgroup"}) {
    struct stat about {};
    if (stat((std::string("/proc/self/ns/") + kind).c_str(), &about) == 0) all += " " + std::to_string(about.st_ino);
  }
  struct stat root {};
  if (stat("/", &root) == 0) all += " " + std::to_string(root.st_dev) + ":" + std::to_string(root.st_ino);
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "urakata-space-%u-%016llx", static_cast<unsigned>(geteuid()),
                static_cast<unsigned long long>(hash(all)));
  return name.data();
}

Result<Descriptor> connect_to_daemon(const std::string& name, const std::string& daemon) {
  if (access(daemon.c_str(), X_OK) != 0) {
    return Error{"there is no " + daemon + " that may be run; is this installation of Urakata complete?"};
  }
  const Address address(name);
  for (int attempt = 0; attempt < kCallAttempts; ++attempt) {
    Descriptor one = new_socket();
    if (!one) return system_error("making a socket");
    if (connect(one.number(), address.get(), address.bytes) == 0) {
      if (same_user(one.number())) return one;
      return Error{"another user holds the socket @" + name + " on this node"};
    }
    Descriptor listening = new_socket();
    if (!listening) return system_error("making a socket");
    if (bind(listening.number(), address.get(), address.bytes) == 0 && listen(listening.number(), kBacklog) == 0) {
      return bring_up(std::move(listening), daemon);
    }
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  return Error{"the space daemon of this job does not answer"};
}

bool same_user(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

}  // namespace urakata::space
