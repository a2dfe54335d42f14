#include "space/attributes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "base/launcher.hpp"
#include "space/descriptor.hpp"

namespace urakata::space {
namespace {

bool in_foreground() {
  const Descriptor terminal(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  return terminal && tcgetpgrp(terminal.number()) == getpgrp();
}

}  // namespace

Attributes own_attributes(std::uint64_t blocked) {
  Attributes own;
  for (unsigned kind = 0; kind < own.limits.size(); ++kind) {
    getrlimit(static_cast<__rlimit_resource>(kind), &own.limits[kind]);
  }
  own.cpus = CpuSet::allowed().words();
  own.blocked = blocked;
  for (int number = 1; number < SIGRTMAX + 1; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      own.ignored |= std::uint64_t{1} << static_cast<unsigned>(number - 1);
    }
  }
  own.umask = umask(0);
  umask(own.umask);
  own.nice = getpriority(PRIO_PROCESS, 0);
  if (in_foreground()) {
    own.process_group = ProcessGroup::shared;
    own.shared_group = getpgrp();
  } else if (getsid(0) == getpid()) {
    own.process_group = ProcessGroup::session;
  }
  own.local_ranks = launcher().local_ranks;
  return own;
}

}  // namespace urakata::space
