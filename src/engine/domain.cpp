// SPDX-License-Identifier: BSD-3-Clause
#include "engine/domain.hpp"

#include <algorithm>
#include <utility>

namespace urakata::engine {

namespace {
// What a starting call may copy: the small blocks that would otherwise cost a step of their own. Larger ones are left
// to whoever advances the domain next, so that starting stays cheap.
constexpr std::int64_t kStartBytes = 1024;
}  // namespace

void Domain::List::push_back(Instance& instance) {
  instance.next = nullptr;
  instance.previous = back_;
  (back_ != nullptr ? back_->next : front_) = &instance;
  back_ = &instance;
}

void Domain::List::remove(Instance& instance) {
  (instance.previous != nullptr ? instance.previous->next : front_) = instance.next;
  (instance.next != nullptr ? instance.next->previous : back_) = instance.previous;
}

std::uint64_t Domain::weight(Starts starts) {
  std::uint64_t sum = 0;
  for (const Instance* instance : starts) sum += weight(*instance);
  return sum;
}

void Domain::submit(Starts starts) {
  if (starts.empty()) return;
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i]->next = starts[i - 1];
  push(*starts.front(), *starts.back(), weight(starts));
}

void Domain::push(Instance& first, Instance& last, std::uint64_t weight) {
  // seq_cst: a progress thread that goes to sleep announces it, then loads pending; we count, then load its
  // announcement.
  pending_.fetch_add(weight, std::memory_order_seq_cst);
  Instance* head = inbox_.load(std::memory_order_relaxed);
  do {
    first.next = head;
  } while (!inbox_.compare_exchange_weak(head, &last, std::memory_order_release, std::memory_order_relaxed));
}

void Domain::take_in() {
  if (inbox_.load(std::memory_order_relaxed) == nullptr) return;
  Instance* newest = inbox_.exchange(nullptr, std::memory_order_acquire);
  Instance* oldest = nullptr;
  while (newest != nullptr) {  // turn the order round
    Instance* following = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = following;
  }
  while (oldest != nullptr) {
    Instance* following = oldest->next;
    take_in(*oldest);
    oldest = following;
  }
}

void Domain::take_in(Instance& instance) {
  waiting_.push_back(instance);
  if (instance.callers_only) ++callers_only_;
}

// Activates waiting instances whose group lets them in. Within a group the order of submission is kept as far as the
// window of active operations needs it: admit() compares sequence numbers.
bool Domain::admit() {
  bool moved = false;
  for (Instance* instance = waiting_.front(); instance != nullptr;) {
    Instance* following = instance->next;
    transport::Group& group = *instance->group;
    if (group.admit(instance->sequence)) {
      waiting_.remove(*instance);
      active_.push_back(*instance);
      instance->activate();
      if (group.error == 0 && told_of(group)) group.error = failures_.code;
      if (group.error != 0) instance->fail(group.error);
      Budget budget{kStartBytes, false, false};
      instance->runnable = false;
      run(*instance, budget);
      moved = true;
    }
    instance = following;
  }
  return moved;
}

void Domain::run(Instance& instance, Budget& budget) {
  const bool idle = instance.advance(*transport_, budget);
  if (instance.runnable == idle) {
    instance.runnable = !idle;
    idle ? --runnable_ : ++runnable_;
  }
  if (instance.error != 0 && instance.group->error == 0) {
    instance.group->error = instance.error;
    broken_ = true;
  }
  if (instance.done()) finish(instance);
}

// Has one of the group's members told that it has failed?
bool Domain::told_of(const transport::Group& group) const {
  return std::ranges::any_of(notices_, [&](const transport::Notice& notice) { return group.concerns(notice); });
}

// Ends what is active in groups that have failed.
void Domain::end_broken() {
  broken_ = false;
  for (Instance* instance = active_.front(); instance != nullptr;) {
    Instance* following = instance->next;
    transport::Group& group = *instance->group;
    if (group.error == 0 && told_of(group)) group.error = failures_.code;
    if (group.error != 0 && instance->error == 0) {
      instance->fail(group.error);
      Budget nothing;
      run(*instance, nothing);
    }
    instance = following;
  }
  note_listening();
}

void Domain::note_listening() {
  const bool listening = transport_->listening();
  if (listening == listening_.load(std::memory_order_relaxed)) return;
  constexpr std::uint64_t kOne = kThroughMemory + 1;  // comes by no socket alone
  if (listening) {
    listening_.store(true, std::memory_order_relaxed);
    fetch_add(pending_, kOne, std::memory_order_seq_cst);
  } else {
    fetch_add(pending_, 0 - kOne, std::memory_order_seq_cst);
    listening_.store(false, std::memory_order_relaxed);
  }
}

void Domain::note_flushing() {
  const bool flushing = transport_->flushing();
  if (flushing == flushing_.load(std::memory_order_relaxed)) return;
  if (flushing) {
    flushing_.store(true, std::memory_order_relaxed);
    fetch_add(pending_, std::uint64_t{1}, std::memory_order_seq_cst);
  } else {
    fetch_add(pending_, ~std::uint64_t{0}, std::memory_order_seq_cst);
    flushing_.store(false, std::memory_order_relaxed);
  }
}

void Domain::finish(Instance& instance) {
  note_flushing();
  active_.remove(instance);
  if (instance.callers_only) --callers_only_;
  instance.group->retire(instance.sequence);
  if (instance.on_finish != nullptr) instance.on_finish(instance);
  fetch_add(pending_, 0 - weight(instance), std::memory_order_relaxed);
  const auto before = exchange(instance.outcome, Instance::Outcome::finished, std::memory_order_acq_rel);
  if (before == Instance::Outcome::abandoned) instance.on_abandoned(instance);
}

void Domain::begin(Starts starts) {
  fetch_add(pending_, weight(starts), std::memory_order_seq_cst);  // as in submit()
  take_in();
  for (Instance* instance : starts) take_in(*instance);
  begin_taken();
}

void Domain::begin(Instance& instance) {
  fetch_add(pending_, weight(instance), std::memory_order_seq_cst);  // as in submit()
  take_in();
  take_in(instance);
  begin_taken();
}

void Domain::begin_taken() {
  admit();
  if (broken_) end_broken();
  note_told();
}

unsigned Domain::advance(bool caller, std::int64_t bytes) {
  take_in();
  if (!caller && callers_only_ != 0) return 0;
  if (failures_.count() != notices_.size()) {
    failures_.read(notices_);
    broken_ = true;
  }
  unsigned finished = 0;
  bool moved = waiting_.front() != nullptr && admit();
  Budget budget{bytes, caller, bytes != 0};
  for (const transport::Completion& completion : transport_->poll()) {
    ++finished;
    auto& instance = *static_cast<Instance*>(completion.ticket.instance);
    instance.complete(completion.ticket, completion.error);
    run(instance, budget);
  }
  if (runnable_ != 0) {
    for (Instance* instance = active_.front(); instance != nullptr && (budget.any || budget.bytes > 0);) {
      Instance* following = instance->next;
      if (instance->runnable) {
        const auto before = std::pair(budget.bytes, budget.messages);
        run(*instance, budget);
        moved = moved || std::pair(budget.bytes, budget.messages) != before;
      }
      instance = following;
    }
  }
  if (broken_) end_broken();
  if (listening_.load(std::memory_order_relaxed)) note_listening();
  if (flushing_.load(std::memory_order_relaxed)) note_flushing();
  note_told();
  return finished + (moved ? 1U : 0U);
}

}  // namespace urakata::engine
