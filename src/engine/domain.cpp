// SPDX-License-Identifier: BSD-3-Clause
#include "engine/domain.hpp"

#include <utility>

namespace urakata::engine {

namespace {
// Bytes that an instance may copy or reduce in the call that activates it: small blocks, which would otherwise cost a
// step of their own. Longer ones wait for a later step, so that starting stays cheap.
constexpr std::int64_t kStartBytes = 1024;
}  // namespace

PendingCount::Weight Domain::weight(Starts starts) {
  PendingCount::Weight sum;
  for (const Instance* instance : starts) sum += weight(*instance);
  return sum;
}

void Domain::submit(Starts starts) {
  if (starts.empty()) return;
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i]->next = starts[i - 1];
  pending_.add(weight(starts));
  submissions_.push(*starts.front(), *starts.back());
}

void Domain::take_in() {
  for (Instance* oldest = submissions_.take_all(); oldest != nullptr;) {
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
// window of active operations needs it: Group::admit() compares sequence numbers. Returns whether any was activated.
bool Domain::admit() {
  bool moved = false;
  for (Instance* instance = waiting_.front(); instance != nullptr;) {
    Instance* following = instance->next;
    transport::Group& group = *instance->group;
    if (group.admit(instance->sequence)) {
      waiting_.remove(*instance);
      active_.push_back(*instance);
      instance->activate();
      notices_.break_if_told(group);
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

// Makes the active instances of failed groups fail, too.
void Domain::end_broken() {
  broken_ = false;
  for (Instance* instance = active_.front(); instance != nullptr;) {
    Instance* following = instance->next;
    transport::Group& group = *instance->group;
    notices_.break_if_told(group);
    if (group.error != 0 && instance->error == 0) {
      instance->fail(group.error);
      Budget nothing;
      run(*instance, nothing);
    }
    instance = following;
  }
  pending_.note_listening(transport_->listening());
}

void Domain::finish(Instance& instance) {
  pending_.note_flushing(transport_->flushing());
  active_.remove(instance);
  if (instance.callers_only) --callers_only_;
  instance.group->retire(instance.sequence);
  if (instance.on_finish != nullptr) instance.on_finish(instance);
  pending_.remove(weight(instance));
  const auto before = exchange(instance.outcome, Instance::Outcome::finished, std::memory_order_acq_rel);
  if (before == Instance::Outcome::abandoned) instance.on_abandoned(instance);
}

void Domain::begin(Starts starts) {
  pending_.add_by_owner(weight(starts));
  take_in();
  for (Instance* instance : starts) take_in(*instance);
  begin_taken();
}

void Domain::begin(Instance& instance) {
  pending_.add_by_owner(weight(instance));
  take_in();
  take_in(instance);
  begin_taken();
}

void Domain::begin_taken() {
  admit();
  if (broken_) end_broken();
  note_waiting();
}

unsigned Domain::advance(bool caller, std::int64_t bytes) {
  take_in();
  if (!caller && callers_only_ != 0) return 0;
  if (notices_.look()) broken_ = true;
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
  if (pending_.listening()) pending_.note_listening(transport_->listening());
  if (pending_.flushing()) pending_.note_flushing(transport_->flushing());
  note_waiting();
  return finished + (moved ? 1U : 0U);
}

}  // namespace urakata::engine
