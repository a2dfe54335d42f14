// SPDX-License-Identifier: BSD-3-Clause
#include "chain/channel_set.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/socket_watch.hpp"
#include "base/system_error.hpp"
#include "chain/compile.hpp"
#include "chain/submitter.hpp"

namespace urakata::chain {
namespace {

constexpr unsigned kFirstRoom = 512;        // requests of one operation; a larger one gets a larger ring
constexpr std::size_t kMostSubmitted = 32;  // operations that the kernel has at once; each has descriptors for gates
constexpr unsigned kReapsPerCheck = 64;
constexpr unsigned kSilent = 2;
constexpr unsigned kOperationShift = 32;             // a request's number: its operation and its entry
constexpr std::size_t kBetween = ~std::uint32_t{0};  // for an entry: a gate between operations
// In Operation::left: it is not submitted yet; the lowest is the next.
constexpr std::size_t kWaits = std::size_t{1} << 48U;
constexpr std::size_t kDiscarded = std::size_t{1} << 20U;  // bytes, in one call
// Words that let every wait of an operation through, however many there are.
constexpr std::uint64_t kAllThrough = std::uint64_t{1} << 32U;

bool has_ended(int connection) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state != TCP_ESTABLISHED;
}

// Makes the gate where there is none yet.
bool has_gate(int& gate) {
  if (gate < 0) gate = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  return gate >= 0;
}

// It may stand behind bytes that operations have not read yet, and stays.
bool said_goodbye(int connection) {
  char byte = 0;
  return recv(connection, &byte, 1, MSG_OOB | MSG_PEEK | MSG_DONTWAIT) == 1;
}

}  // namespace

Result<std::unique_ptr<ChannelSet>> ChannelSet::open(std::vector<Peer> peers, std::int32_t context,
                                                     Submitter& submitter, std::uint64_t timeout_ns) {
  std::unique_ptr<ChannelSet> made(new ChannelSet(std::move(peers), context, submitter, timeout_ns));
  made->silent_.resize(made->peers_.size());
  for (const Peer& peer : made->peers_) {
    if (peer.socket >= 0) SocketWatch::leave_out(peer.socket);
  }
  made->readiness_ = epoll_create1(EPOLL_CLOEXEC);
  if (made->readiness_ < 0) return system_error("no descriptor is left");
  static_assert(std::size_t{kFirstRoom} << (kMostRings - 1) == kMostEntries);
  if (const Status ring = made->add_ring(kFirstRoom); !ring.ok()) return ring.error();
  return made;
}

ChannelSet::~ChannelSet() {
  submitter_.forget(*this);
  for (Served& served : rings_) {
    if (served.ring == nullptr) continue;
    SocketWatch::closed(served.ring->descriptor());
    served.ring.reset();
  }
  for (const Peer& peer : peers_) {
    if (peer.socket < 0) continue;
    SocketWatch::closed(peer.socket);
    close(peer.socket);
  }
  for (const auto& operation : operations_) {
    for (const int gate : operation->gates) close(gate);
    for (const int gate : {operation->ended, operation->begun}) {
      if (gate >= 0) close(gate);
    }
  }
  if (readiness_ >= 0) close(readiness_);
}

// --- starting --------------------------------------------------------------------------------------------------------

Status ChannelSet::add_ring(std::size_t requests) {
  auto opened = Ring::open(static_cast<unsigned>(requests));
  if (!opened.ok()) return opened.error();
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(readiness_, EPOLL_CTL_ADD, (*opened)->descriptor(), &event);
  SocketWatch::leave_out((*opened)->descriptor());
  const std::size_t count = rings_made_.load(std::memory_order_relaxed);
  rings_[count].ring = std::move(*opened);
  rings_made_.store(count + 1, std::memory_order_release);
  return Nothing{};
}

// A newest ring that takes so many requests more, and all of their results: the kernel must not run out of room for
// these while nobody polls.
Status ChannelSet::make_room(std::size_t requests) {
  const Served& last = newest();
  const std::size_t room = last.ring->room();
  if (requests <= room && last.pending + requests <= last.ring->results()) return Nothing{};
  const std::size_t wanted = std::max(requests, 2 * room);
  if (wanted > kMostEntries || (no_larger_ring_ && last_ != nullptr)) return Error{"no ring has more"};
  Status added = add_ring(wanted);
  no_larger_ring_ = !added.ok();
  return added;
}

ChannelSet::Operation* ChannelSet::free_operation(const ChainedSchedule& schedule) {
  auto found = std::ranges::find_if(operations_, [](const auto& one) { return one->whose == nullptr; });
  if (found == operations_.end()) {
    operations_.push_back(std::make_unique<Operation>());
    found = operations_.end() - 1;
  }
  Operation& operation = **found;
  while (operation.gates.size() < schedule.gates) {
    const int gate = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
    if (gate < 0) return nullptr;
    operation.gates.push_back(gate);
  }
  return &operation;
}

bool ChannelSet::start(const ChainedSchedule& schedule, std::span<std::byte* const> buffers, void* whose) {
  for (const Copy& copy : schedule.before) {
    std::memmove(buffers[copy.to] + copy.to_offset, buffers[copy.from] + copy.from_offset, copy.bytes);
  }
  {
    const std::lock_guard guard(lock_);
    if (broken()) return false;
    Operation* const operation = free_operation(schedule);
    if (operation == nullptr) return false;
    std::size_t turn = kWaits;
    for (const auto& one : operations_) {
      if (one->whose != nullptr && one->left >= turn) turn = one->left + 1;
    }
    operation->schedule = &schedule;
    operation->whose = whose;
    operation->buffers.assign(buffers.begin(), buffers.end());
    operation->failed = false;
    operation->submitted = false;
    operation->left = turn;
    in_flight_.fetch_add(1, std::memory_order_relaxed);
  }
  submit(false);
  return true;
}

// All requests of an operation. Each chain signals its end; of an operation behind another the first chain waits for
// the end of each chain of that one, then lets the others begin.
void ChannelSet::put(std::size_t number, const Operation* before) {
  Operation& operation = *operations_[number];
  const ChainedSchedule& schedule = *operation.schedule;
  const auto gate = [&](Ring::Kind kind, bool linked, int descriptor, void* word) {
    newest().ring->put({.kind = kind,
                        .linked = linked,
                        .descriptor = descriptor,
                        .address = word,
                        .bytes = sizeof(std::uint64_t),
                        .number = number << kOperationShift | kBetween});
  };
  operation.others = schedule.chains - 1;
  bool first_of_chain = true;
  for (std::size_t at = 0; at < schedule.entries.size(); ++at) {
    if (first_of_chain && before != nullptr) {
      if (at != 0) {
        gate(Ring::Kind::read, true, operation.begun, &token_in_);
      } else {
        for (std::uint32_t chain = 0; chain < before->schedule->chains; ++chain) {
          gate(Ring::Kind::read, true, before->ended, &token_in_);
        }
        if (operation.others != 0) gate(Ring::Kind::write, true, operation.begun, &operation.others);
      }
    }
    put_entry(number, at);
    first_of_chain = !schedule.entries[at].linked;
    if (first_of_chain && operation.signals) gate(Ring::Kind::write, false, operation.ended, &signal_);
  }
}

std::size_t ChannelSet::requests_of(const Operation& operation, const Operation* before) const {
  const std::size_t chains = operation.schedule->chains;
  std::size_t requests = operation.schedule->entries.size();
  if (operation.signals) requests += chains;
  if (before != nullptr) requests += before->schedule->chains + (chains > 1 ? chains : 0);
  return requests;
}

void ChannelSet::put_entry(std::size_t number, std::size_t at) {
  const Operation& operation = *operations_[number];
  const Entry& entry = operation.schedule->entries[at];
  Ring::Submission request{.linked = entry.linked || operation.signals, .bytes = entry.bytes};
  request.number = number << kOperationShift | at;
  switch (entry.act) {
    case Act::send:
    case Act::receive: {
      const bool sends = entry.act == Act::send;
      request.kind = sends ? Ring::Kind::send : Ring::Kind::receive;
      request.descriptor = peers_[operation.schedule->peers[entry.whom]].socket;
      request.address = entry.buffer == kToken ? static_cast<void*>(sends ? &token_out_ : &token_in_)
                                               : operation.buffers[entry.buffer] + entry.offset;
      break;
    }
    case Act::signal:
      request.kind = Ring::Kind::write;
      request.descriptor = operation.gates[entry.whom];
      request.address = &signal_;
      break;
    case Act::wait:
      request.kind = Ring::Kind::read;
      request.descriptor = operation.gates[entry.whom];
      request.address = &token_in_;
      break;
  }
  newest().ring->put(request);
}

// Of those that wait for their submission the first; operations_.size(): none does.
std::size_t ChannelSet::next_to_submit() const {
  std::size_t number = operations_.size();
  if (in_flight() == submitted_) return number;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Operation& one = *operations_[i];
    const bool waits = one.whose != nullptr && one.left >= kWaits;
    if (waits && (number == operations_.size() || one.left < operations_[number]->left)) number = i;
  }
  return number;
}

// May the operation be submitted behind the last one? (IOSQE_IO_DRAIN would order them in the ring, but has io_uring's
// worker threads run the later one.)
bool ChannelSet::may_follow(Operation& operation) {
  if (!last_->signals || submitted_ == kMostSubmitted) return false;
  if (operation.schedule->chains > 1 && !has_gate(operation.begun)) return false;
  return make_room(requests_of(operation, last_)).ok();
}

// Submits what may be submitted, in order: by the main thread, or by the submitter's.
void ChannelSet::submit(bool handed_over) {
  const std::lock_guard guard(lock_);
  if (handed_over) --handed_over_;
  while (handed_over_ == 0) {
    const std::size_t number = next_to_submit();
    if (number == operations_.size()) return;
    Operation& operation = *operations_[number];
    operation.signals =
        operation.schedule->entries.size() + operation.schedule->chains <= kMostEntries && has_gate(operation.ended);
    if (last_ != nullptr && !may_follow(operation)) return;
    // It may be the signals for which there is no room.
    if (last_ == nullptr && operation.signals) operation.signals = make_room(requests_of(operation, nullptr)).ok();
    if (!handed_over && !submitter_.by_itself()) {
      ++handed_over_;
      if (submitter_.hand_over(*this)) return;
      --handed_over_;
    }
    give_to_kernel(number);
  }
}

void ChannelSet::give_to_kernel(std::size_t number) {
  Operation& operation = *operations_[number];
  const std::size_t requests = requests_of(operation, last_);
  operation.left = requests;
  operation.followed = false;
  std::size_t taken = 0;
  const Status room = broken() ? Status(Error{"the channel set is broken"}) : make_room(requests);
  if (!broken() && !room.ok()) {
    log::error("no room for an operation of %zu requests: %s", requests, room.error().message.c_str());
  }
  if (room.ok()) {
    put(number, last_);
    Served& served = newest();
    const int result = served.ring->submit();
    taken = result > 0 ? static_cast<std::size_t>(result) : 0;
    served.pending += taken;
    if (taken != requests) {
      log::error("the kernel took %zu of an operation's %zu requests: %s", taken, requests,
                 result < 0 ? std::strerror(-result) : "it has no memory for more");
    }
  }
  if (last_ != nullptr) last_->followed = true;
  last_ = &operation;
  operation.submitted = true;
  ++submitted_;
  if (taken == requests) return;
  operation.failed = true;
  operation.left -= requests - taken;
  shut();
}

// --- ends ------------------------------------------------------------------------------------------------------------

void ChannelSet::tell(const Operation& operation, std::size_t at, std::int32_t value) {
  if (value == -ECANCELED || broken()) return;  // for what is told of another
  const Entry* const entry = at != kBetween ? &operation.schedule->entries[at] : nullptr;
  if (entry == nullptr || entry->act == Act::signal || entry->act == Act::wait) {
    log::error("a gate between chains failed: %s", std::strerror(value < 0 ? -value : EIO));
    return;
  }
  const std::int32_t rank = peers_[operation.schedule->peers[entry->whom]].rank;
  if (value < 0) {
    log::error("lost the connection to rank %d: %s", rank, std::strerror(-value));
  } else {
    log::error("lost the connection to rank %d: its process has ended, after %d of %u bytes of a message", rank, value,
               entry->bytes);
  }
}

void ChannelSet::end(Operation& operation, std::vector<Done>& done) {
  if (!operation.failed) {
    for (const Copy& copy : operation.schedule->after) {
      std::memmove(operation.buffers[copy.to] + copy.to_offset, operation.buffers[copy.from] + copy.from_offset,
                   copy.bytes);
    }
    if (operation.signals && !operation.followed) {  // nobody waits for these any more
      for (std::uint32_t chain = 0; chain < operation.schedule->chains; ++chain) {
        std::uint64_t word = 0;
        [[maybe_unused]] const auto got = read(operation.ended, &word, sizeof word);
      }
    }
  }
  done.push_back({operation.whose, operation.failed});
  operation.whose = nullptr;
  if (operation.submitted) --submitted_;
  if (last_ == &operation) last_ = nullptr;
  in_flight_.fetch_sub(1, std::memory_order_relaxed);
}

void ChannelSet::take(const Ring::Outcome& outcome, std::vector<Done>& done) {
  Operation& operation = *operations_[outcome.number >> kOperationShift];
  const std::size_t at = outcome.number & ((std::uint64_t{1} << kOperationShift) - 1);
  const std::uint32_t bytes = at == kBetween ? sizeof(std::uint64_t) : operation.schedule->entries[at].bytes;
  if (outcome.value < 0 || static_cast<std::uint32_t>(outcome.value) != bytes) {
    tell(operation, at, outcome.value);
    operation.failed = true;
    shut();
  }
  if (--operation.left == 0) end(operation, done);
}

void ChannelSet::reap(std::vector<Done>& done) {
  if (in_flight() == 0) return;
  std::unique_lock guard(lock_, std::try_to_lock);  // the submitter's thread may have it: then the next time
  if (!guard.owns_lock()) return;
  for (Served& served : std::span(rings_).first(rings_made_.load(std::memory_order_relaxed))) {
    Ring::Outcome outcome;
    while (served.ring->take(outcome)) {
      --served.pending;
      take(outcome, done);
    }
  }
  if (broken()) {
    for (const auto& operation : operations_) {  // of which no request was taken
      if (operation->whose != nullptr && operation->left == 0) end(*operation, done);
    }
  }
  if (++reaps_ % kReapsPerCheck == 0) check_peers();
  guard.unlock();
  submit(false);
}

// The requests that wait for bytes or room end at once; those at gates are let through, to messages that end at once:
// of what has come nothing is left by then, and a connection that is shut takes no more.
void ChannelSet::shut() {
  if (shut_) return;
  broken_ = shut_ = true;
  for (const Peer& peer : peers_) {
    if (peer.socket < 0) continue;
    shutdown(peer.socket, SHUT_RDWR);
    while (recv(peer.socket, nullptr, kDiscarded, MSG_TRUNC | MSG_DONTWAIT) > 0) {
    }
  }
  const auto open_gate = [](int gate) {
    if (gate < 0) return;
    [[maybe_unused]] const auto written = write(gate, &kAllThrough, sizeof kAllThrough);
  };
  for (const auto& operation : operations_) {
    if (operation->whose == nullptr) continue;
    operation->failed = true;
    if (operation->left >= kWaits) operation->left = 0;
    std::ranges::for_each(operation->gates, open_gate);
    open_gate(operation->ended);
    open_gate(operation->begun);
  }
}

void ChannelSet::discard() {
  const std::lock_guard guard(lock_);
  shut();
}

bool ChannelSet::runs(const void* whose) {
  const std::lock_guard guard(lock_);
  return std::ranges::any_of(operations_, [&](const auto& one) { return one->whose == whose; });
}

std::uint64_t ChannelSet::check_peers(std::uint64_t waited_for) {
  const std::lock_guard guard(lock_);
  for (std::size_t i = 0; i < peers_.size() && !broken(); ++i) {
    const std::uint64_t peer = std::uint64_t{1} << i;
    const int connection = peers_[i].socket;
    if (connection < 0 || (others_left_ & peer) != 0) continue;
    const bool ended = has_ended(connection);  // before the other question: what was said has come by then
    if (said_goodbye(connection)) {
      others_left_ |= peer;
    } else if (ended && (waited_for & peer) != 0) {
      log::error("lost the connection to rank %d: its process has ended", peers_[i].rank);
      shut();
    }
  }
  return others_left_;
}

void ChannelSet::leave() {
  const std::lock_guard guard(lock_);
  if (broken() || std::exchange(left_, true)) return;
  constexpr char kGoodbye = 'g';
  for (const Peer& peer : peers_) {
    if (peer.socket >= 0) send(peer.socket, &kGoodbye, 1, MSG_OOB | MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

// Has a peer not answered for the timeout?
void ChannelSet::check_peers() {
  const std::uint64_t now = now_ns();
  if (now < next_check_ns_ || broken()) return;
  const std::uint64_t quarter = timeout_ns_ / 4;
  next_check_ns_ = now + quarter;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (peers_[i].socket < 0 || getsockopt(peers_[i].socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) continue;
    // A node whose process does not read, so that there is no room for more, answers the kernel's probes.
    const bool asked = info.tcpi_retransmits != 0 || info.tcpi_probes != 0;
    const bool silent = asked && info.tcpi_last_ack_recv > 2 * quarter / 1'000'000;
    silent_[i] = silent ? silent_[i] + 1 : 0;
    if (silent_[i] < kSilent) continue;
    log::error("lost the connection to rank %d: %s", peers_[i].rank, std::strerror(ETIMEDOUT));
    shut();
    return;
  }
}

}  // namespace urakata::chain
