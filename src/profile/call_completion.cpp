// SPDX-License-Identifier: BSD-3-Clause
#include "profile/call_completion.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/mutex.hpp"

namespace urakata::profile {

void Completion::take_out() {
  if (requests_ == nullptr) return;
  call_.line([&](TimeLine& line) {
    const LockGuard held(line.lock_);
    for (int i = 0; i < count_; ++i) {
      const auto found = line.open_.find(requests_[i]);
      if (found == line.open_.end() || !found->second.active) continue;
      held_.push_back({.index = i, .request = requests_[i], .open = std::move(found->second)});
      line.open_.erase(found);
    }
  });
}

// If the call has left a handle unchanged, the request still exists: it is not complete, or it is persistent.
void Completion::put_back() {
  call_.line([&](TimeLine& line) {
    const LockGuard held(line.lock_);
    for (Held& one : held_) {
      if (requests_[one.index] != one.request) continue;
      one.open.active = !one.over;
      line.open_.insert_or_assign(one.request, std::move(one.open));
    }
  });
}

void Completion::make_statuses() {
  try {
    own_.resize(static_cast<std::size_t>(count_));
    statuses_ = own_.data();
  } catch (const std::bad_alloc&) {
    held_.clear();  // the time line will lack these receives
  }
}

void Completion::ended(int index, int status) {
  const auto found = std::ranges::find(held_, index, &Held::index);
  if (found == held_.end()) return;
  found->over = true;
  call_.line([&](TimeLine& line) {
    const LockGuard held(line.lock_);
    line.add_receive(found->open, statuses_[status], call_.ended_at());
  });
}

}  // namespace urakata::profile
