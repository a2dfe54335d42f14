// SPDX-License-Identifier: BSD-3-Clause
#include "engine/kernel.hpp"

#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/mutex.hpp"

namespace urakata::engine {

namespace {

constexpr unsigned kPollsPerPeerCheck = 1 << 14;  // a check takes up to two system calls for each peer
constexpr useconds_t kBetweenFarewells = 20;      // us

}  // namespace

void KernelPart::check_peers() {
  offload->note_left(static_cast<std::uint32_t>(channel_set->check_peers(offload->waits_for())));
}

// A rank that left earlier needs no input of this rank, and no longer answers; check_peers() finds such ranks.
bool KernelPart::leave() {
  if (offload != nullptr) {
    check_peers();
    if (!offload->all_have_it() && !channel_set->broken()) return false;
  }
  channel_set->leave();
  return true;
}

ExecutorTransport::ExecutorTransport(const transport::Failures& failures)
    : failures_(failures), epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

ExecutorTransport::~ExecutorTransport() {
  if (epoll_ >= 0) close(epoll_);
}

void ExecutorTransport::add(KernelPart& part) {
  const LockGuard guard(lock_);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, part.channel_set->descriptor(), &event);
  parts_.push_back(&part);
}

void ExecutorTransport::remove(KernelPart& part) {
  const LockGuard guard(lock_);
  forget(part);
}

void ExecutorTransport::forget(KernelPart& part) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, part.channel_set->descriptor(), nullptr);
  std::erase(parts_, &part);
}

bool ExecutorTransport::end_now(const KernelPart* part, bool all) {
  const LockGuard guard(lock_);
  std::erase_if(ended_, [&](const std::unique_ptr<KernelPart>& one) URAKATA_REQUIRES(lock_) {
    if ((!all && one.get() != part) || !one->leave()) return false;
    forget(*one);
    return true;
  });
  return std::ranges::find(ended_, part, &std::unique_ptr<KernelPart>::get) == ended_.end();
}

// A receiver may compute for long before it asks for this rank's inputs. So this rank keeps the part with the offload's
// slot, from which the eBPF program answers.
void ExecutorTransport::end(std::unique_ptr<KernelPart> part, std::uint64_t wait_ns) {
  const std::uint64_t until = now_ns() + wait_ns;
  const KernelPart* const waited = part.get();
  {
    const LockGuard guard(lock_);
    ended_.push_back(std::move(part));
  }
  for (bool all = true; !end_now(waited, all) && now_ns() < until; all = false) usleep(kBetweenFarewells);
}

void ExecutorTransport::leave() {
  const auto leave_now = [this] {
    const LockGuard guard(lock_);
    return std::ranges::count_if(parts_, [](KernelPart* part) { return !part->leave(); }) == 0;
  };
  const std::uint64_t until = now_ns() + kFarewell;
  while (!leave_now() && now_ns() < until) usleep(kBetweenFarewells);
  const LockGuard guard(lock_);
  for (KernelPart* part : parts_) part->channel_set->leave();
}

// Instances that engine kernel runs post no messages of their own.
int ExecutorTransport::send(const transport::Message&, transport::Ticket, bool*) { return failures_.code; }
int ExecutorTransport::recv(const transport::Message&, transport::Ticket, bool*) { return failures_.code; }

std::span<const transport::Completion> ExecutorTransport::poll() {
  const LockGuard guard(lock_);
  done_.clear();
  small_done_.clear();
  const bool checks = ++polls_ % kPollsPerPeerCheck == 0;
  for (KernelPart* part : parts_) {
    part->channel_set->reap(done_);
    if (part->offload == nullptr) continue;
    part->offload->reap(small_done_);
    if (checks && part->offload->in_flight() != 0) part->check_peers();
    discard_both(*part);
  }
  reported_.clear();
  const auto report = [&](void* whose, bool failed) {
    reported_.push_back({{whose, Instance::kWhole, 0}, failed ? failures_.code : 0});
  };
  for (const chain::ChannelSet::Done& one : done_) report(one.whose, one.failed);
  for (const xdp::Offload::Done& one : small_done_) report(one.whose, one.failed);
  return reported_;
}

// By a channel set's connections a rank learns that a peer is gone, and tells peers that it has given up itself. So an
// offload and its communicator's channel set break together. Only for a part with an offload.
void ExecutorTransport::discard_both(KernelPart& part) {
  if (part.channel_set->broken() == part.offload->broken()) return;
  if (part.offload->broken()) {
    part.channel_set->discard();
  } else {
    part.offload->discard();
    part.offload->reap(small_done_);
  }
}

std::size_t ExecutorTransport::in_flight() const {
  const LockGuard guard(lock_);
  std::size_t sum = 0;
  for (const KernelPart* part : parts_) {
    sum += part->channel_set->in_flight();
    if (part->offload != nullptr) sum += part->offload->in_flight();
  }
  return sum;
}

// Requests cannot be taken back. The connections are shut down instead, which soon ends the operations in flight.
std::size_t ExecutorTransport::cancel(const void* instance) {
  const LockGuard guard(lock_);
  for (KernelPart* part : parts_) {
    if (part->channel_set->runs(instance)) part->channel_set->discard();
    if (part->offload != nullptr && part->offload->runs(instance)) part->offload->discard();
  }
  return 0;
}

// A notice needs no message: this rank's connections are shut down, and the peers see that.
void ExecutorTransport::tell(std::int32_t, const transport::Notice& notice) {
  const LockGuard guard(lock_);
  for (KernelPart* part : parts_) {
    if (part->channel_set->context() == notice.origin) part->channel_set->discard();
  }
}

Wakeup ExecutorTransport::wakeup() const {
  const LockGuard guard(lock_);
  const bool silent = std::ranges::any_of(
      parts_, [](const KernelPart* part) { return part->offload != nullptr && part->offload->in_flight() != 0; });
  return silent ? Wakeup::none : Wakeup::descriptors;
}

void KernelEngine::start_all(Domain::Starts starts) {
  if (starts.empty()) return;
  while (!domain().try_own()) sched_yield();
  domain().begin(starts);
  domain().disown();
}

}  // namespace urakata::engine
