#include "shim/mixed_receive.hpp"

#include <sched.h>

#include <climits>
#include <mutex>

#include "p2p/queue.hpp"
#include "shim/completion.hpp"
#include "shim/host.hpp"
#include "shim/process.hpp"
#include "shim/request.hpp"
#include "shim/space.hpp"

namespace urakata::shim {

namespace {

int source_of(const Letter& letter) {
  return letter.envelope.source == p2p::kAnySource ? MPI_ANY_SOURCE : letter.envelope.source;
}
int tag_of(const Letter& letter) { return letter.envelope.tag == p2p::kAnyTag ? MPI_ANY_TAG : letter.envelope.tag; }

// Is there a message that both patterns match?
bool overlap(const p2p::Envelope& a, const p2p::Envelope& b) {
  return a.context == b.context && (a.tag == b.tag || a.tag == p2p::kAnyTag || b.tag == p2p::kAnyTag) &&
         (a.source == b.source || a.source == p2p::kAnySource || b.source == p2p::kAnySource);
}

p2p::Envelope envelope_of(const Letter& letter, const MPI_Status& found) {
  return {letter.envelope.context, found.MPI_SOURCE, found.MPI_TAG};
}

bool host_has(const Letter& letter, MPI_Status* found) {
  int flag = 0;
  host.Iprobe(source_of(letter), tag_of(letter), letter.circle->handle, &flag, found);
  return flag != 0;
}

}  // namespace

// The queue, and the receives that the host is at. All members under the lock, but `open`.
class MixedQueue {
 public:
  using State = MixedReceive::State;

  // Held by whoever looks through the queue. A thread that waits for it gives its core away: the holder asks the host.
  class Turn {
   public:
    explicit Turn(MixedQueue& of) : of_(of) {
      while (of.taken_.exchange(true, std::memory_order_acquire)) sched_yield();
    }
    Turn(MixedQueue& of, std::try_to_lock_t) : of_(of), got_(!of.taken_.exchange(true, std::memory_order_acquire)) {}
    ~Turn() {
      if (got_) of_.taken_.store(false, std::memory_order_release);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    bool got() const { return got_; }

   private:
    MixedQueue& of_;
    bool got_ = true;
  };

  // Nothing to look at; by any thread.
  bool empty() const { return open_.load(std::memory_order_acquire) == 0; }

  bool claims(const p2p::Envelope& message, const MixedReceive* before = nullptr) const {
    for (const MixedReceive* entry = queue_.first(); entry != nullptr && entry != before; entry = entry->next) {
      if (p2p::matches(entry->letter().envelope, message)) return true;
    }
    return false;
  }
  bool disturbs(const Letter& letter, const MixedReceive* before = nullptr) const {
    for (const MixedReceive* entry = queue_.first(); entry != nullptr && entry != before; entry = entry->next) {
      if (overlap(entry->letter().envelope, letter.envelope)) return true;
    }
    return false;
  }

  void start(MixedReceive& entry) {
    const Letter& letter = entry.letter();
    MPI_Status found;
    if (letter.way == Way::outside) {
      if (!disturbs(letter)) return post(entry);
    } else {
      // Now and then the host's message comes first, or a stream of messages of the space could keep it out forever.
      constexpr unsigned kFair = 8;
      if (++turns_ % kFair == 0 && !disturbs(letter) && host_has(letter, &found)) return take(entry, found);
      entry.open_ = &endpoint()->receive(letter.envelope, letter.buffer);
      if (!endpoint()->posted(*entry.open_)) return entry.state_.store(State::at_space, std::memory_order_release);
    }
    open_.fetch_add(1, std::memory_order_relaxed);
    queue_.push(entry);
    look();
  }

  bool look() {
    bool moved = false;
    const MixedReceive* in_vain = nullptr;  // the last entry for which the host had nothing
    for (MixedReceive* entry = queue_.first(); entry != nullptr;) {
      MixedReceive& now = *entry;
      entry = entry->next;
      const Letter& letter = now.letter();
      if (now.open_ != nullptr && !endpoint()->posted(*now.open_)) {
        leave(now);
        moved = true;
        if (now.abandoned_) {
          hold(letter.buffer);  // the owner's hold ends before the endpoint may be done
          give_back(*now.open_);
          destroy_request(&now.owner_);
        } else {
          now.state_.store(State::at_space, std::memory_order_release);
        }
        continue;
      }
      if (now.open_ == nullptr && !disturbs(letter, &now)) {
        leave(now);
        post(now);
        moved = true;
        continue;
      }
      if (in_vain != nullptr && in_vain->letter().envelope == letter.envelope) continue;
      MPI_Status found;
      if (!host_has(letter, &found)) {
        in_vain = &now;
      } else if (!claims(envelope_of(letter, found), &now)) {
        if (now.open_ != nullptr && !endpoint()->withdraw(*now.open_)) continue;  // leaves at the next look
        leave(now);
        take(now, found);
        moved = true;
      }
    }
    return test() || moved;
  }

  void leave(MixedReceive& entry) {
    queue_.take([&](const MixedReceive& e) { return &e == &entry; });
    open_.fetch_sub(1, std::memory_order_relaxed);
  }

  // Is the receive at the host done?
  bool test() {
    bool moved = false;
    for (MixedReceive* entry = at_host_.first(); entry != nullptr;) {
      MixedReceive& now = *entry;
      entry = entry->next;
      int flag = 0;
      if (host.Request_get_status(now.theirs_, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 0) continue;
      at_host_.take([&](const MixedReceive& e) { return &e == &now; });
      open_.fetch_sub(1, std::memory_order_relaxed);
      now.state_.store(State::finished, std::memory_order_release);
      moved = true;
    }
    return moved;
  }

  void forget_at_host(MixedReceive& entry) {
    at_host_.take([&](const MixedReceive& e) { return &e == &entry; });
    open_.fetch_sub(1, std::memory_order_relaxed);
  }

  std::atomic<bool> taken_{false};

 private:
  // The host's receive from one rank.
  void post(MixedReceive& entry) {
    const Letter& letter = entry.letter();
    std::byte* const address = letter.buffer.address;
    MPI_Datatype type = letter.type->handle();
#if defined(URAKATA_LARGE_COUNTS)
    if (letter.count > INT_MAX) {
      entry.code_ = host.Irecv_c(address, letter.count, type, source_of(letter), tag_of(letter), letter.circle->handle,
                                 &entry.theirs_);
      return enter_host(entry);
    }
#endif
    entry.code_ = host.Irecv(address, static_cast<int>(letter.count), type, source_of(letter), tag_of(letter),
                             letter.circle->handle, &entry.theirs_);
    enter_host(entry);
  }

  // The message that was found at the host. Nobody else can take it: receives that could are started in turn.
  void take(MixedReceive& entry, const MPI_Status& found) {
    const Letter& letter = entry.letter();
    MPI_Message message = MPI_MESSAGE_NULL;
    for (int flag = 0; flag == 0;) {
      host.Improbe(found.MPI_SOURCE, found.MPI_TAG, letter.circle->handle, &flag, &message, MPI_STATUS_IGNORE);
    }
    std::byte* const address = letter.buffer.address;
    MPI_Datatype type = letter.type->handle();
#if defined(URAKATA_LARGE_COUNTS)
    if (letter.count > INT_MAX) {
      entry.code_ = host.Imrecv_c(address, letter.count, type, &message, &entry.theirs_);
      return enter_host(entry);
    }
#endif
    entry.code_ = host.Imrecv(address, static_cast<int>(letter.count), type, &message, &entry.theirs_);
    enter_host(entry);
  }

  void enter_host(MixedReceive& entry) {
    if (entry.abandoned_) {
      host.Request_free(&entry.theirs_);
      if (entry.open_ != nullptr) endpoint()->discard(*entry.open_);
      destroy_request(&entry.owner_);
      return;
    }
    if (entry.code_ != MPI_SUCCESS) return entry.state_.store(State::finished, std::memory_order_release);
    entry.state_.store(State::at_host, std::memory_order_release);
    open_.fetch_add(1, std::memory_order_relaxed);
    at_host_.push(entry);
  }

  p2p::Queue<MixedReceive> queue_;
  p2p::Queue<MixedReceive> at_host_;
  std::atomic<std::uint32_t> open_{0};  // in both
  unsigned turns_ = 0;
};

namespace {

MixedQueue& queue() {
  static auto* the = new MixedQueue;
  return *the;
}

}  // namespace

const Letter& MixedReceive::letter() const { return owner_.message.letter; }

std::unique_ptr<MixedReceive> MixedReceive::start(Request& owner) {
  std::unique_ptr<MixedReceive> made(new MixedReceive(owner));
  const MixedQueue::Turn turn(queue());
  queue().start(*made);
  return made;
}

void MixedReceive::wait() {
  p2p::Patience patience(endpoint()->port(), endpoint()->manners());
  while (!done()) {
    bool moved = endpoint()->progress();
    moved = progress_mixed() || moved;
    if (moved) {
      patience.restart();
    } else {
      patience.step([this] { return done(); });
    }
  }
}

int MixedReceive::finish(MPI_Status* status, bool* told) {
  {
    const MixedQueue::Turn turn(queue());
    if (state_.load(std::memory_order_relaxed) == State::queued) {  // the endpoint has done it since the last look
      queue().leave(*this);
      state_.store(State::at_space, std::memory_order_relaxed);
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
  const MixedQueue::Turn turn(queue());
  const State state = state_.load(std::memory_order_relaxed);
  if (state == State::at_host) host.Cancel(&theirs_);
  if (state != State::queued || (open_ != nullptr && !endpoint()->cancel(*open_))) return;
  queue().leave(*this);
  state_.store(open_ != nullptr ? State::at_space : State::finished, std::memory_order_release);
  queue().look();
}

bool MixedReceive::abandon() {
  const MixedQueue::Turn turn(queue());
  switch (state_.load(std::memory_order_relaxed)) {
    case State::queued:
      abandoned_ = true;
      return true;
    case State::at_space:
      hold(letter().buffer);
      give_back(*open_);
      return false;
    case State::at_host:
      queue().forget_at_host(*this);
      [[fallthrough]];
    case State::finished:
      if (theirs_ != MPI_REQUEST_NULL) host.Request_free(&theirs_);
      if (open_ != nullptr) endpoint()->discard(*open_);
      return false;
  }
  return false;
}

bool progress_mixed() {
  if (queue().empty()) return false;
  const MixedQueue::Turn turn(queue(), std::try_to_lock);
  return turn.got() && queue().look();
}

bool free_for_host(const Letter& letter) {
  if (letter.circle->unordered.load(std::memory_order_relaxed)) return true;
  if (process().told_level() == MPI_THREAD_MULTIPLE) return false;
  if (queue().empty()) return true;
  const MixedQueue::Turn turn(queue());
  return !queue().disturbs(letter);
}

bool probe_host(const Letter& letter, MPI_Status* status) {
  const MixedQueue::Turn turn(queue());
  queue().look();
  MPI_Status found;
  if (!host_has(letter, &found) || queue().claims(envelope_of(letter, found))) return false;
  int flag = 0;
  host.Iprobe(found.MPI_SOURCE, found.MPI_TAG, letter.circle->handle, &flag, status);
  return flag != 0;
}

bool take_from_host(const Letter& letter, MPI_Message* message, MPI_Status* status) {
  const MixedQueue::Turn turn(queue());
  queue().look();
  MPI_Status found;
  if (!host_has(letter, &found) || queue().claims(envelope_of(letter, found))) return false;
  int flag = 0;
  host.Improbe(found.MPI_SOURCE, found.MPI_TAG, letter.circle->handle, &flag, message, status);
  return flag != 0;
}

}  // namespace urakata::shim
