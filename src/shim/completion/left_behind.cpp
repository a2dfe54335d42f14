// SPDX-License-Identifier: BSD-3-Clause
#include "shim/completion/left_behind.hpp"

#include <atomic>
#include <utility>

#include "base/mutex.hpp"
#include "base/spin_lock.hpp"
#include "shim/completion/completion.hpp"

namespace urakata::shim {

namespace {

struct LeftBehind {
  SpinLock lock;
  Request* first URAKATA_GUARDED_BY(lock) = nullptr;
  std::atomic<bool> some{false};
};
constinit LeftBehind left_behind;

}  // namespace

void leave_to_settle(Request& request) {
  request.persistent = false;
  const LockGuard guard(left_behind.lock);
  request.next = std::exchange(left_behind.first, &request);
  left_behind.some.store(true, std::memory_order_relaxed);
}

bool settle_left_behind() {
  if (!left_behind.some.load(std::memory_order_relaxed)) return false;
  Request* done = nullptr;
  {
    const LockGuard guard(left_behind.lock);
    for (Request** at = &left_behind.first; *at != nullptr;) {
      Request& request = **at;
      if (!request.finished()) {
        at = &request.next;
        continue;
      }
      *at = request.next;
      request.next = std::exchange(done, &request);
    }
    left_behind.some.store(left_behind.first != nullptr, std::memory_order_relaxed);
  }
  const bool any = done != nullptr;
  while (done != nullptr) {
    Request& request = *std::exchange(done, done->next);
    MPI_Request handle = request.handle();
    complete(request, &handle, MPI_STATUS_IGNORE, 0);
  }
  return any;
}

}  // namespace urakata::shim
