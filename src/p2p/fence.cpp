// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace urakata::p2p {
namespace {
constinit std::atomic<std::uint64_t> count{0};
}

bool fence_all_threads() {
  const int saved = errno;
  long result = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  if (result != 0) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    result = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
  errno = saved;
  if (result == 0) count.fetch_add(1, std::memory_order_relaxed);
  return result == 0;
}

std::uint64_t fences() { return count.load(std::memory_order_relaxed); }

}  // namespace urakata::p2p
