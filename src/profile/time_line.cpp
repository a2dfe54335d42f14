// SPDX-License-Identifier: BSD-3-Clause
#include "profile/time_line.hpp"

#include "base/hash.hpp"
#include "base/mutex.hpp"
#include "profile/behind.hpp"

namespace urakata::profile {

namespace {

using observe::CallEventKind;

// A hash of the numbers that is never 0.
std::uint32_t hash_of(std::span<const std::int32_t> numbers) {
  const auto bytes = std::as_bytes(numbers);
  const std::uint64_t all = hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return static_cast<std::uint32_t>(all ^ all >> 32U) | 1U;
}

std::vector<std::int32_t> world_ranks_of(MPI_Comm comm) {
  std::vector<std::int32_t> world(64);
  const std::size_t count = behind().members(&comm, world.data(), world.size());
  const bool all = count <= world.size();
  world.resize(count);
  if (!all) behind().members(&comm, world.data(), world.size());
  return world;
}

bool cancelled(const MPI_Status& status) {
  static const auto ask = find<decltype(&MPI_Test_cancelled)>("Test_cancelled");
  int flag = 0;
  ask(&status, &flag);
  return flag != 0;
}

}  // namespace

std::size_t TimeLine::Hash::operator()(const Stream& stream) const {
  const std::int32_t words[] = {static_cast<std::int32_t>(stream.communicator), stream.peer, stream.tag};
  return hash_of(words);
}

std::int32_t TimeLine::Members::of(int rank) const {
  return rank >= 0 && static_cast<std::size_t>(rank) < world.size() ? world[static_cast<std::size_t>(rank)] : -1;
}

const std::shared_ptr<const TimeLine::Members>& TimeLine::members(MPI_Comm comm) {
  if (const auto found = communicators_.find(comm); found != communicators_.end()) return found->second;
  const auto made = std::make_shared<Members>();
  made->world = world_ranks_of(comm);
  const std::uint64_t known = made->world.empty() ? 0 : behind().communicator(&comm);
  const std::int32_t words[] = {static_cast<std::int32_t>(known >> 32U), static_cast<std::int32_t>(known)};
  // Communicators that the shim does not know count as one if they have the same ranks.
  made->number = known != 0 ? hash_of(words) : hash_of(made->world);
  return communicators_.emplace(comm, made).first->second;
}

std::uint32_t TimeLine::next(Counts& counts, const Stream& stream) {
  const auto found = counts.find(stream);
  if (found == counts.end()) return counts.size() < kMost ? counts.emplace(stream, 1U).first->second : 0;
  return found->second == kClosed ? 0 : ++found->second;
}

void TimeLine::called(std::uint32_t record, std::uint64_t begin, std::uint64_t end) {
  events_->add({.begin = begin, .end = end, .record = record});
}

void TimeLine::called(std::uint32_t record, std::uint64_t begin, std::uint64_t end, MPI_Comm collective, bool moves) {
  const LockGuard held(lock_);
  const Members& of = *members(collective);
  const bool known = collectives_.contains(of.number) || collectives_.size() < kMost;
  if (of.world.empty() || !known) return called(record, begin, end);
  events_->add({.begin = begin,
                .end = end,
                .record = record,
                .communicator = moves ? of.number : 0,
                .number = ++collectives_[of.number],
                .kind = CallEventKind::collective});
}

void TimeLine::add_send(const Members& of, int peer, int tag, std::uint64_t bytes, std::uint64_t time) {
  const std::int32_t to = of.of(peer);  // -1 also for MPI_PROC_NULL
  const std::uint32_t number = to >= 0 ? next(sent_, {of.number, to, tag}) : 0;
  if (number == 0) return;
  events_->add({.begin = time,
                .end = bytes,
                .communicator = of.number,
                .number = number,
                .peer = to,
                .tag = tag,
                .kind = CallEventKind::send});
}

void TimeLine::number(Open& open) {
  const std::int32_t from = open.members->of(open.peer);
  if (from < 0 || open.tag == MPI_ANY_TAG) return;
  open.number = next(received_, {open.members->number, from, open.tag});
}

void TimeLine::add_receive(const Open& open, const MPI_Status& status, std::uint64_t time) {
  const Members& of = *open.members;
  if (cancelled(status)) {
    if (open.number != 0) received_[{of.number, of.of(open.peer), open.tag}] = kClosed;
    return;
  }
  const std::int32_t from = of.of(status.MPI_SOURCE);  // -1 also for MPI_PROC_NULL
  if (from < 0) return;
  const std::uint32_t known = open.number != 0 ? open.number : next(received_, {of.number, from, status.MPI_TAG});
  if (known == 0) return;
  events_->add({.begin = time,
                .end = behind().bytes(&status),
                .communicator = of.number,
                .number = known,
                .peer = from,
                .tag = status.MPI_TAG,
                .kind = CallEventKind::receive});
}

void TimeLine::sent(const Envelope& to, std::uint64_t bytes, std::uint64_t time) {
  const LockGuard held(lock_);
  add_send(*members(to.comm), to.peer, to.tag, bytes, time);
}

void TimeLine::received(const Envelope& from, const MPI_Status& status, std::uint64_t time) {
  const LockGuard held(lock_);
  add_receive({.members = members(from.comm), .peer = from.peer, .tag = from.tag}, status, time);
}

void TimeLine::posted(MPI_Request request, const Envelope& from) {
  const LockGuard held(lock_);
  Open open{.members = members(from.comm), .peer = from.peer, .tag = from.tag, .active = true};
  number(open);
  open_.insert_or_assign(request, std::move(open));
}

void TimeLine::prepared_receive(MPI_Request request, const Envelope& from) {
  const LockGuard held(lock_);
  open_.insert_or_assign(request,
                         Open{.members = members(from.comm), .peer = from.peer, .tag = from.tag, .persistent = true});
}

void TimeLine::prepared_send(MPI_Request request, const Envelope& to, std::uint64_t bytes) {
  const LockGuard held(lock_);
  open_.insert_or_assign(request, Open{.members = members(to.comm),
                                       .peer = to.peer,
                                       .tag = to.tag,
                                       .send = true,
                                       .persistent = true,
                                       .bytes = bytes});
}

void TimeLine::started(MPI_Request request, std::uint64_t time) {
  const LockGuard held(lock_);
  const auto found = open_.find(request);
  if (found == open_.end() || !found->second.persistent) return;  // of a collective, or partitioned
  Open& open = found->second;
  if (open.send) return add_send(*open.members, open.peer, open.tag, open.bytes, time);
  open.number = 0;
  open.active = true;
  number(open);
}

void TimeLine::forget(MPI_Request request) {
  const LockGuard held(lock_);
  open_.erase(request);
}

void TimeLine::forget_members(MPI_Comm comm) {
  const LockGuard held(lock_);
  communicators_.erase(comm);
}

}  // namespace urakata::profile
