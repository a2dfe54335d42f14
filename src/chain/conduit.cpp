#include "chain/conduit.hpp"

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
#include "chain/submitter.hpp"

namespace urakata::chain {
namespace {

constexpr unsigned kFirstRoom = 512;  // requests of one operation; a larger one gets a larger ring
constexpr unsigned kReapsPerCheck = 64;
constexpr unsigned kSilent = 2;
constexpr unsigned kOperationShift = 32;  // a request's number: its operation and its entry
// In Operation::left: it is not submitted yet; the lowest is the next.
constexpr std::size_t kWaits = std::size_t{1} << 48U;
// Words that let every wait of an operation through, however many there are.
constexpr std::uint64_t kAllThrough = std::uint64_t{1} << 32U;

bool has_ended(int connection) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state != TCP_ESTABLISHED;
}

// It may stand behind bytes that operations have not read yet, and stays.
bool said_goodbye(int connection) {
  char byte = 0;
  return recv(connection, &byte, 1, MSG_OOB | MSG_PEEK | MSG_DONTWAIT) == 1;
}

}  // namespace

Result<std::unique_ptr<Conduit>> Conduit::open(std::vector<Peer> peers, std::int32_t context, Submitter& submitter,
                                               std::uint64_t timeout_ns) {
  std::unique_ptr<Conduit> made(new Conduit(std::move(peers), context, submitter, timeout_ns));
  made->silent_.resize(made->peers_.size());
  for (const Peer& peer : made->peers_) {
    if (peer.socket >= 0) SocketWatch::leave_out(peer.socket);
  }
  made->news_ = epoll_create1(EPOLL_CLOEXEC);
  if (made->news_ < 0) return system_error("no descriptor is left");
  auto ring = Ring::open(kFirstRoom);
  if (!ring.ok()) return ring.error();
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(made->news_, EPOLL_CTL_ADD, (*ring)->descriptor(), &event);
  made->newest_ = ring->get();
  made->rings_.emplace_back().ring = std::move(*ring);
  return made;
}

Conduit::~Conduit() {
  submitter_.forget(*this);
  rings_.clear();
  for (const Peer& peer : peers_) {
    if (peer.socket < 0) continue;
    SocketWatch::closed(peer.socket);
    close(peer.socket);
  }
  for (const auto& operation : operations_) {
    for (const int gate : operation->gates) close(gate);
  }
  if (news_ >= 0) close(news_);
}

// --- starting --------------------------------------------------------------------------------------------------------

// A ring with room for that many requests.
bool Conduit::make_room(std::size_t entries) {
  if (rings_.back().ring->room() >= entries) return true;
  auto made = Ring::open(static_cast<unsigned>(entries));
  if (!made.ok()) {
    log::error("no room for an operation of %zu entries: %s", entries, made.error().message.c_str());
    return false;
  }
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(news_, EPOLL_CTL_ADD, (*made)->descriptor(), &event);
  rings_.emplace_back().ring = std::move(*made);
  newest_.store(rings_.back().ring.get(), std::memory_order_release);
  return true;
}

Conduit::Operation* Conduit::free_operation(const ChainedSchedule& schedule) {
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

bool Conduit::start(const ChainedSchedule& schedule, std::span<std::byte* const> buffers, void* whose) {
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
    operation->left = turn;
    in_flight_.fetch_add(1, std::memory_order_relaxed);
  }
  submit(false);
  return true;
}

void Conduit::put(std::size_t number, std::size_t at) {
  const Operation& operation = *operations_[number];
  const Entry& entry = operation.schedule->entries[at];
  Ring::Submission request{.linked = entry.linked, .bytes = entry.bytes};
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
  rings_.back().ring->put(request);
}

// Submits the operation whose turn it is, where the one before it has ended: by the main thread, or by the submitter's.
// (IOSQE_IO_DRAIN would order them in the ring, but has io_uring's worker threads run the later one.)
void Conduit::submit(bool handed_over) {
  const std::lock_guard guard(lock_);
  if (handed_over) --handed_over_;
  Served& last = rings_.back();
  if (last.pending != 0 || handed_over_ != 0) return;
  std::size_t number = operations_.size();
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Operation& one = *operations_[i];
    const bool waits = one.whose != nullptr && one.left >= kWaits;
    if (waits && (number == operations_.size() || one.left < operations_[number]->left)) number = i;
  }
  if (number == operations_.size()) return;
  if (!handed_over && !submitter_.by_itself()) {
    ++handed_over_;
    if (submitter_.hand_over(*this)) return;
    --handed_over_;
  }
  Operation& operation = *operations_[number];
  const std::size_t entries = operation.schedule->entries.size();
  operation.left = entries;
  std::size_t taken = 0;
  if (!broken() && make_room(entries)) {
    Served& served = rings_.back();
    for (std::size_t at = 0; at < entries; ++at) put(number, at);
    const int result = served.ring->submit();
    taken = result > 0 ? static_cast<std::size_t>(result) : 0;
    served.pending += taken;
    if (taken != entries) {
      log::error("the kernel took %zu of an operation's %zu requests: %s", taken, entries,
                 result < 0 ? std::strerror(-result) : "it has no memory for more");
    }
  }
  if (taken == entries) return;
  operation.failed = true;
  operation.left -= entries - taken;
  shut();
}

// --- ends ------------------------------------------------------------------------------------------------------------

void Conduit::tell(const Operation& operation, std::size_t at, std::int32_t value) {
  const Entry& entry = operation.schedule->entries[at];
  if (value == -ECANCELED || broken()) return;  // for what is told of another
  const bool message = entry.act == Act::send || entry.act == Act::receive;
  const std::int32_t rank = message ? peers_[operation.schedule->peers[entry.whom]].rank : -1;
  if (!message) {
    log::error("a gate between an operation's chains failed: %s", std::strerror(value < 0 ? -value : EIO));
  } else if (value < 0) {
    log::error("lost the connection to rank %d: %s", rank, std::strerror(-value));
  } else {
    log::error("lost the connection to rank %d: its process has ended, after %d of %u bytes of a message", rank, value,
               entry.bytes);
  }
}

void Conduit::end(Operation& operation, std::vector<Done>& done) {
  if (!operation.failed) {
    for (const Copy& copy : operation.schedule->after) {
      std::memmove(operation.buffers[copy.to] + copy.to_offset, operation.buffers[copy.from] + copy.from_offset,
                   copy.bytes);
    }
  }
  done.push_back({operation.whose, operation.failed});
  operation.whose = nullptr;
  in_flight_.fetch_sub(1, std::memory_order_relaxed);
}

void Conduit::take(const Ring::Outcome& outcome, std::vector<Done>& done) {
  Operation& operation = *operations_[outcome.number >> kOperationShift];
  const std::size_t at = outcome.number & ((std::uint64_t{1} << kOperationShift) - 1);
  if (outcome.value < 0 || static_cast<std::uint32_t>(outcome.value) != operation.schedule->entries[at].bytes) {
    tell(operation, at, outcome.value);
    operation.failed = true;
    shut();
  }
  if (--operation.left == 0) end(operation, done);
}

void Conduit::reap(std::vector<Done>& done) {
  if (in_flight() == 0) return;
  std::unique_lock guard(lock_, std::try_to_lock);  // the submitter's thread may have it: then the next time
  if (!guard.owns_lock()) return;
  for (Served& served : rings_) {
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

// The requests that wait for bytes or room end at once; those at gates are let through, to messages that end at once.
void Conduit::shut() {
  if (shut_) return;
  broken_ = shut_ = true;
  for (const Peer& peer : peers_) {
    if (peer.socket >= 0) shutdown(peer.socket, SHUT_RDWR);
  }
  for (const auto& operation : operations_) {
    if (operation->whose == nullptr) continue;
    operation->failed = true;
    if (operation->left >= kWaits) operation->left = 0;
    for (const int gate : operation->gates) {
      [[maybe_unused]] const auto written = write(gate, &kAllThrough, sizeof kAllThrough);
    }
  }
}

void Conduit::discard() {
  const std::lock_guard guard(lock_);
  shut();
}

bool Conduit::runs(const void* whose) {
  const std::lock_guard guard(lock_);
  return std::ranges::any_of(operations_, [&](const auto& one) { return one->whose == whose; });
}

std::uint64_t Conduit::check_peers(std::uint64_t waited_for) {
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

void Conduit::leave() {
  const std::lock_guard guard(lock_);
  if (broken() || std::exchange(left_, true)) return;
  constexpr char kGoodbye = 'g';
  for (const Peer& peer : peers_) {
    if (peer.socket >= 0) send(peer.socket, &kGoodbye, 1, MSG_OOB | MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

// Has a peer not answered for the timeout?
void Conduit::check_peers() {
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
