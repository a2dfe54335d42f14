// SPDX-License-Identifier: BSD-3-Clause
#include "job/contexts.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/log.hpp"
#include "base/mutex.hpp"

namespace urakata::job {

namespace {

constexpr std::int32_t kLongest = 64;
constexpr std::uint32_t kFirstEndpointComm = 1;

// The next number for an endpoint communicator; counted for the whole process.
std::atomic<std::uint32_t>& next_endpoint_comm() {
  static std::atomic<std::uint32_t> next{kFirstEndpointComm + ChildContexts::kFixed};
  return next;
}

}  // namespace

void Contexts::reset(std::int32_t limit, std::int32_t taken) {
  const LockGuard guard(mutex_);
  taken_.assign(static_cast<std::size_t>(limit), false);
  std::fill_n(taken_.begin(), taken, true);
}

Contexts::Span Contexts::take(std::int32_t length) {
  const LockGuard guard(mutex_);
  Span best;
  const auto limit = static_cast<std::int32_t>(taken_.size());
  for (std::int32_t at = 0; at < limit && best.length < length;) {
    std::int32_t end = at;
    while (end < limit && end - at < length && !taken_[static_cast<std::size_t>(end)]) ++end;
    if (end - at > best.length) best = {at, end - at};
    at = end + 1;
  }
  std::fill_n(taken_.begin() + best.first, best.length, true);
  return best;
}

void Contexts::give(Span span) {
  const LockGuard guard(mutex_);
  std::fill_n(taken_.begin() + span.first, span.length, false);
}

const ContextRun::Start& ContextRun::of(std::int32_t world_rank) const {
  if (starts.empty()) return everywhere;
  return *std::ranges::lower_bound(starts, world_rank, {}, &Start::rank);
}

MemberContexts::MemberContexts(std::shared_ptr<const ContextRun> run, std::int32_t index, Contexts& contexts,
                               std::int32_t own_rank)
    : run_(std::move(run)), index_(index), contexts_(&contexts) {
  if (has_context()) own_ = context_of(own_rank);
}

MemberContexts::MemberContexts(MemberContexts&& other) noexcept
    : run_(std::exchange(other.run_, nullptr)), index_(other.index_), own_(other.own_), contexts_(other.contexts_) {}

MemberContexts& MemberContexts::operator=(MemberContexts&& other) noexcept {
  give();
  run_ = std::exchange(other.run_, nullptr);
  index_ = other.index_;
  own_ = other.own_;
  contexts_ = other.contexts_;
  return *this;
}

void MemberContexts::give() {
  if (has_context() && contexts_ != nullptr) contexts_->give({own_, 1});
}

void ChildContexts::fix(std::int32_t contexts) {
  auto run = std::make_shared<ContextRun>();
  run->everywhere = {0, 0, kFirstEndpointComm};
  run->length = contexts;
  run->contexts = contexts;
  run_ = std::move(run);
}

bool ChildContexts::refill(Bootstrap& members) {
  drop();
  length_ = std::min(2 * length_, kLongest);
  struct RunRecord {
    ContextRun::Start start;
    std::int32_t contexts;
  };
  const Contexts::Span taken = contexts_.take(length_);
  const std::uint32_t endpoint_comm =
      next_endpoint_comm().fetch_add(static_cast<std::uint32_t>(length_), std::memory_order_relaxed);
  const auto records = members.gathered(RunRecord{{own_rank_, taken.first, endpoint_comm}, taken.length});
  if (records.empty()) {
    contexts_.give(taken);
    return false;
  }
  auto run = std::make_shared<ContextRun>();
  const RunRecord least = std::ranges::min(records, {}, &RunRecord::contexts);  // the first of equals
  run->length = length_;
  run->contexts = least.contexts;
  if (least.contexts == 0 && least.start.rank == own_rank_) {
    log::warning(
        "the tags have no room for further communicators and persistent collectives: they are left to the MPI library "
        "until others are freed");
  }
  for (const RunRecord& record : records) run->starts.push_back(record.start);
  std::ranges::sort(run->starts, {}, &ContextRun::Start::rank);
  contexts_.give({taken.first + run->contexts, taken.length - run->contexts});
  run_ = std::move(run);
  next_ = 0;
  return true;
}

void ChildContexts::drop() {
  if (run_ != nullptr && next_ < run_->contexts) {
    contexts_.give({run_->of(own_rank_).context + next_, run_->contexts - next_});
  }
  run_ = nullptr;
}

}  // namespace urakata::job
