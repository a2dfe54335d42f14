// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/prober.hpp"

#include <algorithm>

#include "base/mutex.hpp"

namespace urakata::transport {

void Prober::probe(std::span<const ListenAddress> listen_addresses, std::int32_t rank) {
  const LockGuard guard(lock_);
  for (const ListenAddress& listener : listen_addresses) {
    probes_.push_back({.rank = rank, .connection = connector_.connect_to(listener, rank, FrameKind::probe, epoll_)});
  }
}

Prober::Answer Prober::answer(std::int32_t rank) const {
  const LockGuard guard(lock_);
  Answer answer;
  int index = 0;
  for (const Probe& probe : probes_) {
    if (probe.rank != rank) continue;
    if (probe.opened && answer.opened < 0) {
      answer.opened = index;
      answer.better_may_come = answer.more_may_come;
      answer.round_trip_us = probe.round_trip_us;
    }
    if (!probe.opened && probe.connection && !probe.connection->broken()) answer.more_may_come = true;
    ++index;
  }
  return answer;
}

void Prober::end(std::int32_t rank) {
  const LockGuard guard(lock_);
  std::erase_if(probes_, [&](const Probe& probe) { return probe.rank == rank; });
}

void Prober::end() {
  const LockGuard guard(lock_);
  probes_.clear();
}

std::optional<bool> Prober::acknowledged(const Connection& from, std::int32_t rank) {
  lock_.assert_held();
  const auto probe = std::ranges::find_if(probes_, [&](const Probe& one) { return one.connection.get() == &from; });
  if (probe == probes_.end()) return std::nullopt;
  probe->opened = rank == from.rank;
  probe->round_trip_us = from.round_trip_us();
  return probe->opened;
}

}  // namespace urakata::transport
