#include "p2p/port.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace urakata::p2p {

void Port::wake_sleeper() {
  if (asleep_.exchange(0, std::memory_order_relaxed) != 0) futex_wake(asleep_);
}

// Where the kernel refuses, a wake can be missed; sleeps are short for that reason too.
void Port::fence_all_threads() {
  const int saved = errno;
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
  errno = saved;
}

}  // namespace urakata::p2p
