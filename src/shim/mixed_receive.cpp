#include "shim/mixed_receive.hpp"

#include <mutex>

#include "shim/completion.hpp"
#include "shim/host.hpp"
#include "shim/mixed_queue.hpp"
#include "shim/process.hpp"
#include "shim/request.hpp"
#include "shim/space.hpp"
#include "shim/status.hpp"
#include "shim/wait_until.hpp"

namespace urakata::shim {

const MessageDescriptor& MixedReceive::descriptor() const { return owner_.message.descriptor; }

std::unique_ptr<MixedReceive> MixedReceive::start(Request& owner) {
  std::unique_ptr<MixedReceive> made(new MixedReceive(owner));
  const MixedQueue::Lock lock(mixed_queue());
  mixed_queue().start(*made);
  return made;
}

void MixedReceive::wait() {
  wait_until([this] { return done(); });
}

int MixedReceive::finish(MPI_Status* status, bool* told) {
  {
    const MixedQueue::Lock lock(mixed_queue());
    if (state_.load(std::memory_order_relaxed) == State::queued) {  // the endpoint has done it since the last look
      mixed_queue().leave(*this);
      state_.store(State::at_space, std::memory_order_relaxed);
      mixed_queue().poll();  // those behind it
    }
  }
  *told = false;
  if (state_.load(std::memory_order_relaxed) == State::at_space) {
    const p2p::Result result = open_->result;
    endpoint()->release(*open_);
    set_status(status, result);
    return result.outcome == p2p::Outcome::truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  }
  if (open_ != nullptr) endpoint()->discard(*open_);
  *told = true;
  if (code_ != MPI_SUCCESS) {
    empty_status(status);
    return code_;
  }
  if (theirs_ != MPI_REQUEST_NULL) return host.Wait(&theirs_, status);
  set_status(status, {p2p::kAnySource, p2p::kAnyTag, 0, p2p::Outcome::cancelled});
  return MPI_SUCCESS;
}

void MixedReceive::status(MPI_Status* status) const {
  int flag = 0;
  if (state_.load(std::memory_order_acquire) != State::finished) {
    set_status(status, open_->result);
  } else if (theirs_ != MPI_REQUEST_NULL) {
    host.Request_get_status(theirs_, &flag, status);
  } else {
    set_status(status, {p2p::kAnySource, p2p::kAnyTag, 0, p2p::Outcome::cancelled});
  }
}

void MixedReceive::cancel() {
  const MixedQueue::Lock lock(mixed_queue());
  const State state = state_.load(std::memory_order_relaxed);
  if (state == State::at_host) host.Cancel(&theirs_);
  if (state != State::queued || (open_ != nullptr && !endpoint()->cancel(*open_))) return;
  mixed_queue().leave(*this);
  state_.store(open_ != nullptr ? State::at_space : State::finished, std::memory_order_release);
  mixed_queue().poll();
}

bool MixedReceive::abandon() {
  const MixedQueue::Lock lock(mixed_queue());
  switch (state_.load(std::memory_order_relaxed)) {
    case State::queued:
      abandoned_ = true;
      return true;
    case State::at_space:
      retain(descriptor().buffer);
      leave_behind(*open_, *descriptor().circle);
      return false;
    case State::at_host:
      mixed_queue().forget_at_host(*this);
      [[fallthrough]];
    case State::finished:
      if (theirs_ != MPI_REQUEST_NULL) host.Request_free(&theirs_);
      if (open_ != nullptr) endpoint()->discard(*open_);
      return false;
  }
  return false;
}

bool progress_mixed() {
  if (endpoint() == nullptr || mixed_queue().empty()) return false;  // some may be left over in MPI_Finalize
  const MixedQueue::Lock lock(mixed_queue(), std::try_to_lock);
  return lock.got() && mixed_queue().poll();
}

bool mixed_waiting() { return mixed_queue().waiting(); }

bool free_for_host(const MessageDescriptor& descriptor) {
  if (descriptor.circle->unordered()) return true;
  if (process().told_level() == MPI_THREAD_MULTIPLE) return false;
  if (mixed_queue().empty()) return true;
  const MixedQueue::Lock lock(mixed_queue());
  return !mixed_queue().disturbs(descriptor);
}

bool probe_host(const MessageDescriptor& descriptor, MPI_Status* status) {
  const MixedQueue::Lock lock(mixed_queue());
  mixed_queue().poll();
  MPI_Status found;
  if (!mixed_queue().assist(descriptor, &found)) return false;
  int flag = 0;
  host.Iprobe(found.MPI_SOURCE, found.MPI_TAG, descriptor.circle->handle, &flag, status);
  return flag != 0;
}

bool take_from_host(const MessageDescriptor& descriptor, MPI_Message* message, MPI_Status* status) {
  const MixedQueue::Lock lock(mixed_queue());
  mixed_queue().poll();
  MPI_Status found;
  if (!mixed_queue().assist(descriptor, &found)) return false;
  int flag = 0;
  host.Improbe(found.MPI_SOURCE, found.MPI_TAG, descriptor.circle->handle, &flag, message, status);
  return flag != 0;
}

}  // namespace urakata::shim
