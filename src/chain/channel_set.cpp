// SPDX-License-Identifier: BSD-3-Clause
#include "chain/channel_set.hpp"

#include <cstring>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "chain/compile.hpp"
#include "chain/submitter.hpp"

namespace urakata::chain {
namespace {

constexpr unsigned kReapsPerCheck = 64;

void make_copies(std::span<const Copy> copies, std::span<std::byte* const> buffers) {
  for (const Copy& copy : copies) {
    std::memmove(buffers[copy.to] + copy.to_offset, buffers[copy.from] + copy.from_offset, copy.bytes);
  }
}

}  // namespace

Result<std::unique_ptr<ChannelSet>> ChannelSet::open(std::vector<Peer> peers, std::int32_t context,
                                                     Submitter& submitter, std::uint64_t timeout_ns) {
  std::unique_ptr<ChannelSet> made(new ChannelSet(std::move(peers), context, submitter, timeout_ns));
  if (const Status rings = made->rings_.open(); !rings.ok()) return rings.error();
  return made;
}

ChannelSet::~ChannelSet() { submitter_.forget(*this); }

// --- starting --------------------------------------------------------------------------------------------------------

bool ChannelSet::start(const ChainedSchedule& schedule, std::span<std::byte* const> buffers, void* whose) {
  make_copies(schedule.before, buffers);
  {
    const LockGuard guard(lock_);
    if (broken() || !operations_.add(schedule, buffers, whose)) return false;
  }
  submit(false);
  return true;
}

// If the kernel has refused a larger ring, asks again only while it has none of the operations.
Status ChannelSet::make_room(std::size_t requests) { return rings_.make_room(requests, operations_.last() == nullptr); }

// Submits the operations that wait, in order, as far as there is room, or has the submitter's thread do so.
// `handed_over`: the submitter's thread calls.
void ChannelSet::submit(bool handed_over) {
  const LockGuard guard(lock_);
  if (handed_over) --handed_over_;
  while (handed_over_ == 0) {
    ChainedOperation* const operation = operations_.next_to_submit();
    if (operation == nullptr) return;
    const ChainedOperation* const before = operations_.last();
    operation->signals =
        operation->schedule->entries.size() + operation->schedule->chains <= kMostEntries && operation->ended.make();
    if (before != nullptr) {
      if (!operations_.may_follow(*operation) || !make_room(requests_of(*operation, before)).ok()) return;
    } else if (operation->signals) {
      operation->signals = make_room(requests_of(*operation, nullptr)).ok();  // perhaps there is room without signals
    }
    if (!handed_over && !submitter_.by_itself()) {
      ++handed_over_;
      if (submitter_.hand_over(*this)) return;
      --handed_over_;
    }
    give_to_kernel(*operation);
  }
}

void ChannelSet::give_to_kernel(ChainedOperation& operation) {
  const ChainedOperation* const before = operations_.last();
  const std::size_t requests = requests_of(operation, before);
  operation.unended = requests;
  operation.followed = false;
  std::size_t taken = 0;
  const Status room = broken() ? Status(Error{"the channel set is broken"}) : make_room(requests);
  if (!broken() && !room.ok()) {
    log::error("no room for an operation of %zu requests: %s", requests, room.error().message.c_str());
  }
  if (room.ok()) {
    requests_.put(operation, before);
    const int result = rings_.submit();
    taken = result > 0 ? static_cast<std::size_t>(result) : 0;
    if (taken != requests) {
      log::error("the kernel took %zu of an operation's %zu requests: %s", taken, requests,
                 result < 0 ? std::strerror(-result) : "it has no memory for more");
    }
  }
  operations_.note_submitted(operation);
  if (taken == requests) return;
  operation.failed = true;
  operation.unended -= requests - taken;
  shut();
}

// --- ends ------------------------------------------------------------------------------------------------------------

void ChannelSet::end(ChainedOperation& operation, std::vector<Done>& done) {
  if (!operation.failed) {
    make_copies(operation.schedule->after, operation.buffers);
    if (operation.signals && !operation.followed) {  // no operation waits for these signals
      for (std::uint32_t chain = 0; chain < operation.schedule->chains; ++chain) operation.ended.take();
    }
  }
  done.push_back({operation.whose, operation.failed});
  operations_.remove(operation);
}

void ChannelSet::take(const Ring::Outcome& outcome, std::vector<Done>& done) {
  const RequestId request = RequestId::of(outcome.number);
  ChainedOperation& operation = operations_.numbered(request.operation);
  const bool between = request.entry == RequestId::kBetween;
  const std::uint32_t bytes = between ? sizeof(std::uint64_t) : operation.schedule->entries[request.entry].bytes;
  if (outcome.value < 0 || static_cast<std::uint32_t>(outcome.value) != bytes) {
    if (!broken()) requests_.tell(operation, request.entry, outcome.value);
    operation.failed = true;
    shut();
  }
  if (--operation.unended == 0) end(operation, done);
}

void ChannelSet::reap(std::vector<Done>& done) {
  if (in_flight() == 0) return;
  if (!lock_.try_lock()) return;  // another thread has it: a later call reaps
  {
    const LockGuard guard(lock_, std::adopt_lock);
    take_ended(done);
  }
  submit(false);
}

void ChannelSet::take_ended(std::vector<Done>& done) {
  rings_.take_all([&](const Ring::Outcome& outcome) {
    lock_.assert_held();
    take(outcome, done);
  });
  if (broken()) {
    operations_.for_each_over([&](ChainedOperation& operation) {
      lock_.assert_held();
      end(operation, done);
    });
  }
  if (++reaps_ % kReapsPerCheck == 0 && !broken() && peers_.one_is_silent()) shut();
}

// Requests that wait for bytes or for room end at once. Requests that wait at gates are let through. The messages after
// them end at once, too: no received bytes are left, and a connection that is shut takes no more.
void ChannelSet::shut() {
  if (broken()) return;
  broken_ = true;
  peers_.shut();
  operations_.fail_all();
}

void ChannelSet::discard() {
  const LockGuard guard(lock_);
  shut();
}

bool ChannelSet::runs(const void* whose) {
  const LockGuard guard(lock_);
  return operations_.has(whose);
}

std::uint64_t ChannelSet::check_peers(std::uint64_t waited_for) {
  const LockGuard guard(lock_);
  if (!broken() && peers_.lost_one_of(waited_for)) shut();
  return peers_.left();
}

void ChannelSet::leave() {
  const LockGuard guard(lock_);
  if (!broken()) peers_.leave();
}

}  // namespace urakata::chain
