// SPDX-License-Identifier: BSD-3-Clause
#include "xdp/offload.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/progress_thread.hpp"

namespace urakata::xdp {

namespace {

// A frame takes some microseconds, also to a busy node: who has waited this long asks, and less and less often, since
// the other may just be late.
constexpr std::uint64_t kFirstWait = 500'000;  // ns
constexpr std::uint64_t kLongestWait = 20'000'000;
constexpr std::uint64_t kBetweenChecks = 100'000'000;

bool before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

}  // namespace

Offload::~Offload() {
  Table::release(slot_);
  close(socket_);
}

bool Offload::has_cell(std::uint32_t number) const {
  return __atomic_load_n(&cell_of(number).word, __ATOMIC_ACQUIRE) >> 32U == number;
}

// Those who need this rank's row.
std::uint32_t Offload::receivers(std::uint32_t form) const {
  std::uint32_t all = 0;
  const auto ranks = static_cast<std::uint32_t>(sides_.size());
  for (std::uint32_t other = 0; other < ranks; ++other) {
    if (other != rank_ && (ura_xdp_needs(form, other, ranks) & bit(rank_)) != 0) all |= bit(other);
  }
  return all;
}

// Those of them that may not have it yet.
std::uint32_t Offload::lacking(std::uint32_t number, std::uint32_t form) const {
  std::uint32_t lack = receivers(form) & ~left_ &
                       ~static_cast<std::uint32_t>(__atomic_load_n(&cell_of(number).acknowledged, __ATOMIC_RELAXED));
  for (std::uint32_t other = 0; other < sides_.size(); ++other) {
    if (before(number, __atomic_load_n(&slot_.finished[other], __ATOMIC_RELAXED))) lack &= ~bit(other);
  }
  return lack;
}

// Those whose rows an operation that has a cell waits for.
std::uint32_t Offload::missing(const Operation& operation) const {
  const std::uint32_t needs = ura_xdp_needs(operation.work.form, rank_, static_cast<std::uint32_t>(sides_.size()));
  const __u64 word = __atomic_load_n(&cell_of(operation.number).word, __ATOMIC_RELAXED);
  return needs & ~bit(rank_) & ~static_cast<std::uint32_t>(word);
}

std::uint32_t Offload::waits_for() const {
  if (begun_.empty()) return 0;
  const Operation& first = begun_.front();
  if (first.given) return missing(first);
  return before(oldest_, finished_) ? lacking(oldest_, forms_[oldest_ & (URA_XDP_CELLS - 1)]) : 0;
}

void Offload::send(std::uint32_t to, ura_xdp_kind kind, std::uint32_t number, std::uint32_t form) {
  ++counts_.frames;
  const Side& side = sides_[to];
  ura_xdp_header header{};
  header.magic = URA_XDP_MAGIC;
  header.kind = static_cast<__u16>(kind);
  header.from = static_cast<__u16>(rank_);
  header.user = side.user;
  header.slot = side.slot;
  header.from_user = own_.user;
  header.from_slot = own_.slot;
  header.token = slot_.token;
  header.number = number;
  header.form = form;
  header.finished = finished_;
  // A request is as long as its answer, which is made in its place; what is in it does not matter.
  const std::size_t bytes = kind == URA_XDP_DATA || kind == URA_XDP_REQUEST ? URA_XDP_BYTES_OF(form) : 0;
  std::array<iovec, 2> parts = {iovec{&header, sizeof header}, iovec{cell_of(number).rows[rank_], bytes}};
  msghdr message{};
  message.msg_name = const_cast<sockaddr_in*>(&side.address);
  message.msg_namelen = sizeof side.address;
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);  // what is lost here is asked for like all else
}

// The cell is this operation's.
void Offload::give(Operation& operation, const std::byte* from) {
  operation.given = true;
  const std::uint32_t form = operation.work.form, number = operation.number;
  ura_xdp_cell& cell = cell_of(number);
  const auto ranks = static_cast<std::uint32_t>(sides_.size());
  forms_[number & (URA_XDP_CELLS - 1)] = form;
  const std::uint32_t needs = ura_xdp_needs(form, rank_, ranks);
  const std::uint32_t to = receivers(form);
  if (to == 0 && (needs & bit(rank_)) == 0) return;
  const std::size_t bytes = URA_XDP_BYTES_OF(form);
  if (bytes != 0) std::memcpy(cell.rows[rank_], from, bytes);
  cell.forms[rank_] = form;
  const __u64 own = static_cast<__u64>(bit(rank_)) << 16U | bit(rank_);
  const __u64 full = __atomic_fetch_or(&cell.word, own, __ATOMIC_ACQ_REL) | own;
  for (std::uint32_t other = 0; other < ranks; ++other) {
    if ((to & bit(other)) != 0) send(other, URA_XDP_DATA, number, form);
  }
  if ((needs & bit(rank_)) != 0 && (full & needs) == needs) compute(cell, number, operation.work);
}

// Have all whose rows this rank needs given them, and for an operation of this form? eBPF code knows the forms of those
// who have given, but not that of a rank which gives nothing.
bool Offload::agreed(const ura_xdp_cell& cell, std::uint32_t form) const {
  const auto ranks = static_cast<std::uint32_t>(sides_.size());
  const std::uint32_t needs = ura_xdp_needs(form, rank_, ranks);
  if ((needs & ~static_cast<std::uint32_t>(__atomic_load_n(&cell.word, __ATOMIC_RELAXED))) != 0) return false;
  for (std::uint32_t other = 0; other < ranks; ++other) {
    if ((needs & bit(other)) != 0 && cell.forms[other] != form) return false;
  }
  return true;
}

// As eBPF code does where the last row comes from another node.
void Offload::compute(ura_xdp_cell& cell, std::uint32_t number, const Work& work) {
  const auto ranks = static_cast<std::uint32_t>(sides_.size());
  const bool right = agreed(cell, work.form);
  if (right && work.reducer != nullptr) {
    const std::size_t bytes = URA_XDP_BYTES_OF(work.form);
    alignas(16) std::array<std::byte, URA_XDP_BYTES> left;
    std::memcpy(left.data(), cell.rows[0], bytes);
    for (std::uint32_t rank = 1; rank < ranks; ++rank) {
      std::memcpy(cell.rows[URA_XDP_RESULT], cell.rows[rank], bytes);
      work.reducer->apply(*work.reducer, left.data(), cell.rows[URA_XDP_RESULT], bytes / work.reducer->size);
      std::memcpy(left.data(), cell.rows[URA_XDP_RESULT], bytes);
    }
  }
  __atomic_store_n(&cell.done, URA_XDP_DONE(number, right ? 1U : 0U), __ATOMIC_RELEASE);
}

bool Offload::start(const Work& work, const std::byte* from, std::byte* into, void* whose) {
  if (broken()) return false;
  Operation& operation = begun_.emplace_back(Operation{.number = next_++, .work = work, .take = into, .whose = whose});
  in_flight_.store(begun_.size(), std::memory_order_relaxed);
  free_cells();
  if (has_cell(operation.number)) {
    give(operation, from);
  } else if (from != nullptr) {
    operation.waiting.assign(from, from + URA_XDP_BYTES_OF(work.form));
  }
  note_awaited();
  // Half of the cells ahead is time enough for the answer; symmetric operations tell it by themselves.
  if (next_ - oldest_ > URA_XDP_CELLS / 2 && before(asked_, oldest_ + 1) && before(oldest_, finished_)) {
    ask_whether(0);
    asked_ = oldest_ + 1;
  }
  return true;
}

bool Offload::ended(const Operation& operation) const {
  if (!operation.given) return false;
  if (ura_xdp_needs(operation.work.form, rank_, static_cast<std::uint32_t>(sides_.size())) == 0) return true;
  return __atomic_load_n(&cell_of(operation.number).done, __ATOMIC_ACQUIRE) >> 1U == operation.number;
}

void Offload::note_awaited() {
  std::uint64_t awaited = kNothing;
  if (!begun_.empty()) awaited = ended(begun_.front()) ? kEnded : begun_.front().number;
  awaited_.store(awaited, std::memory_order_relaxed);
}

bool Offload::readiness() const {
  if (broken()) return true;
  const std::uint64_t awaited = awaited_.load(std::memory_order_relaxed);
  if (awaited == kNothing || awaited == kEnded) return awaited == kEnded;
  const auto number = static_cast<std::uint32_t>(awaited);
  return __atomic_load_n(&cell_of(number).done, __ATOMIC_ACQUIRE) >> 1U == number;
}

void Offload::take(const Operation& operation, std::vector<Done>& done) {
  const ura_xdp_cell& cell = cell_of(operation.number);
  const std::uint32_t form = operation.work.form;
  const bool takes = ura_xdp_needs(form, rank_, static_cast<std::uint32_t>(sides_.size())) != 0;
  const bool failed = takes && ((cell.done & 1U) == 0 || !agreed(cell, form));
  const bool bcast = URA_XDP_OPERATION(form) == URA_XDP_BCAST;
  const bool has_it = bcast && URA_XDP_ROOT(form) == rank_;  // its buffer may be one that cannot be written
  if (takes && !failed && !has_it && operation.take != nullptr) {
    const std::uint32_t row = bcast ? URA_XDP_ROOT(form) : std::uint32_t{URA_XDP_RESULT};
    std::memcpy(operation.take, cell.rows[row], URA_XDP_BYTES_OF(form));
  }
  done.push_back({operation.whose, failed});
}

// Gives cells whose operations nobody needs any more to later ones.
void Offload::free_cells() {
  while (before(oldest_, finished_) && lacking(oldest_, forms_[oldest_ & (URA_XDP_CELLS - 1)]) == 0) {
    ura_xdp_cell& cell = cell_of(oldest_);
    __atomic_store_n(&cell.acknowledged, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&cell.word, static_cast<__u64>(oldest_ + URA_XDP_CELLS) << 32U, __ATOMIC_RELEASE);
    ++oldest_;
    free_wait_ns_ = 0;
  }
}

void Offload::ask_again(std::uint64_t now) {
  if (wait_ns_ == 0) {
    wait_ns_ = kFirstWait;
    ask_at_ns_ = now + wait_ns_;
    std::ranges::fill(heard_ns_, now);
  }
  if (now < ask_at_ns_) return;
  wait_ns_ = std::min(2 * wait_ns_, kLongestWait);
  ask_at_ns_ = now + wait_ns_;
  const Operation& first = begun_.front();
  const std::uint32_t lack = missing(first);
  for (std::uint32_t other = 0; other < sides_.size(); ++other) {
    if ((lack & bit(other)) == 0) continue;
    if (!hears(other, now)) return;
    ++counts_.requests;
    send(other, URA_XDP_REQUEST, first.number, first.work.form);
    send(other, URA_XDP_PING, 0, 0);
  }
}

// Has the rank's node answered within the timeout? eBPF code does so whatever the process there is doing. Where it has
// not the offload is broken.
bool Offload::hears(std::uint32_t other, std::uint64_t now) {
  const __u64 answered = __atomic_fetch_and(&slot_.answered, ~static_cast<__u64>(bit(other)), __ATOMIC_RELAXED);
  if ((answered & bit(other)) != 0) heard_ns_[other] = now;
  if (now - heard_ns_[other] < timeout_ns_) return true;
  log::error("small collectives by eBPF code: the node of the communicator's rank %u does not answer", other);
  discard();
  return false;
}

// The oldest cell is wanted: do they have what is in it? Where they do not answer they may not, so it goes again.
void Offload::ask_whether(std::uint64_t now) {
  if (oldest_ == next_ || !before(oldest_, finished_)) return;
  if (now != 0) {
    if (free_wait_ns_ == 0) {
      free_wait_ns_ = kFirstWait / 5;
      free_at_ns_ = now;
      std::ranges::fill(heard_ns_, now);
    }
    if (now < free_at_ns_) return;
    free_at_ns_ = now + free_wait_ns_;
  }
  const std::uint32_t form = forms_[oldest_ & (URA_XDP_CELLS - 1)];
  const std::uint32_t lack = lacking(oldest_, form);
  for (std::uint32_t other = 0; other < sides_.size(); ++other) {
    if ((lack & bit(other)) == 0) continue;
    if (now != 0 && !hears(other, now)) return;
    if (free_wait_ns_ > kFirstWait / 5) send(other, URA_XDP_DATA, oldest_, form);
    ++counts_.questions;
    send(other, URA_XDP_ASK, oldest_, form);
    if (now != 0) send(other, URA_XDP_PING, 0, 0);
  }
  if (now != 0) free_wait_ns_ = std::min(2 * free_wait_ns_, kLongestWait);
}

bool Offload::all_have_it() {
  if (broken() || !begun_.empty()) return true;
  free_cells();
  if (oldest_ == next_) return true;
  ask_whether(now_ns());
  return false;
}

// Frames that come up to the socket show that nothing takes them in on the way.
bool Offload::ebpf_is_there() {
  ura_xdp_header header{};
  const ssize_t got = recv(socket_, &header, sizeof header, MSG_DONTWAIT | MSG_TRUNC);
  return got < static_cast<ssize_t>(sizeof header) || header.magic != URA_XDP_MAGIC || header.token != slot_.token;
}

void Offload::reap(std::vector<Done>& done) {
  if (broken()) {
    for (const Operation& operation : begun_) done.push_back({operation.whose, true});
    begun_.clear();
    in_flight_.store(0, std::memory_order_relaxed);
    return;
  }
  if (begun_.empty()) return;
  bool any = false;
  while (!begun_.empty() && ended(begun_.front())) {
    take(begun_.front(), done);
    begun_.pop_front();
    slot_.finished[rank_] = ++finished_;
    any = true;
  }
  const std::size_t waiting = begun_.size();
  if (any) {
    in_flight_.store(waiting, std::memory_order_relaxed);
    note_awaited();
    wait_ns_ = 0;
  }
  if (any || oldest_ != finished_) free_cells();
  for (Operation& operation : begun_) {
    if (operation.given) continue;
    if (!has_cell(operation.number)) break;
    // Its row may be the last one, and the program's function is run by the program's threads only.
    if (on_progress_thread && operation.work.reducer != nullptr && operation.work.reducer->owner_only) break;
    give(operation, operation.waiting.data());
    operation.waiting.clear();
  }
  if (begun_.empty() || any) return;
  const std::uint64_t now = now_ns();
  if (begun_.front().given) {
    ask_again(now);
  } else {
    ask_whether(now);
  }
  if (now < next_check_ns_) return;
  next_check_ns_ = now + kBetweenChecks;
  if (!ebpf_is_there()) discard();
}

void Offload::discard() {
  __atomic_store_n(&slot_.token, 0, __ATOMIC_SEQ_CST);
  broken_.store(true, std::memory_order_relaxed);
}

bool Offload::runs(const void* whose) const {
  return std::ranges::any_of(begun_, [&](const Operation& one) { return one.whose == whose; });
}

}  // namespace urakata::xdp
