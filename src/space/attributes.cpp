// SPDX-License-Identifier: BSD-3-Clause
#include "space/attributes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "base/launcher.hpp"
#include "space/descriptor.hpp"
#include "space/raw.hpp"

namespace urakata::space {
namespace {

constexpr long kThisProcess = 1;  // IOPRIO_WHO_PROCESS
constexpr long kMemoryNodes = static_cast<long>(sizeof(Preference::memory_nodes)) * 8;

bool in_foreground() {
  const Descriptor terminal(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  return terminal && tcgetpgrp(terminal.number()) == getpgrp();
}

}  // namespace

Preference own_preference() {
  Preference own;
  if (const long scheduler = raw::call(SYS_sched_getscheduler, 0); scheduler >= 0) {
    own.scheduler = static_cast<std::int32_t>(scheduler);
    raw::call(SYS_sched_getparam, 0, raw::word(&own.priority));
  }
  if (const long disk = raw::call(SYS_ioprio_get, kThisProcess, 0); disk >= 0)
    own.disk = static_cast<std::int32_t>(disk);
  raw::call(SYS_get_mempolicy, raw::word(&own.memory), raw::word(own.memory_nodes.data()), kMemoryNodes, 0, 0);
  return own;
}

long set_preference(const Preference& wanted) {
  const Preference present = own_preference();
  long result = 0;
  if (wanted.scheduler != present.scheduler || wanted.priority != present.priority) {
    result = raw::call(SYS_sched_setscheduler, 0, wanted.scheduler, raw::word(&wanted.priority));
  }
  if (result == 0 && wanted.disk != present.disk) {
    result = raw::call(SYS_ioprio_set, kThisProcess, 0, wanted.disk);
  }
  if (result == 0 && (wanted.memory != present.memory || wanted.memory_nodes != present.memory_nodes)) {
    result = raw::call(SYS_set_mempolicy, wanted.memory, raw::word(wanted.memory_nodes.data()), kMemoryNodes);
  }
  return result;
}

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
  own.preference = own_preference();
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
