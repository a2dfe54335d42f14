// SPDX-License-Identifier: BSD-3-Clause
// How fast a site was sent to, for those who have predicted it.
#include <algorithm>

#include "transport/stripes/stripes.hpp"

namespace urakata::transport {

void Stripes::note_sites(std::span<const std::int32_t> sites, std::uint64_t least) {
  const std::lock_guard guard(lock_);
  site_.assign(sites.begin(), sites.end());
  busy_least_ = least;
  busy_.clear();
}

Stripes::Busiest Stripes::busiest(std::int32_t site) {
  const std::lock_guard guard(lock_);
  const auto found = busy_.find(site);
  return found == busy_.end() ? Busiest{} : found->second.most;
}

void Stripes::begin_busy(std::int32_t rank, const Message& message) {
  if (site_.empty()) return;
  const std::int32_t site = site_[static_cast<std::size_t>(rank)];
  Busy& busy = busy_[site];
  if (busy.open == 0) {
    busy.begin_ns = settings_.now();
    busy.bytes = 0;
    for (auto& [other, peer] : peers_) {
      if (site_[static_cast<std::size_t>(other)] == site) peer.busy_stripes = 0;
    }
  }
  busy.open += message.bytes;
  busy.bytes += message.bytes;
  Peer& to = peers_[rank];
  to.busy_stripes = std::max(to.busy_stripes, stripes_of(to, message.streams).most);
}

void Stripes::end_busy(std::int32_t rank, std::uint64_t bytes) {
  if (site_.empty()) return;
  const std::int32_t site = site_[static_cast<std::size_t>(rank)];
  Busy& busy = busy_[site];
  busy.open -= std::min(busy.open, bytes);
  if (busy.open != 0 || busy.bytes < busy_least_) return;
  const double seconds = static_cast<double>(settings_.now() - busy.begin_ns) * 1e-9;
  const auto rate = [](std::uint64_t of, double in) { return static_cast<double>(of) / in; };
  if (busy.most.bytes != 0 && rate(busy.bytes, seconds) <= rate(busy.most.bytes, busy.most.seconds)) return;
  std::uint32_t connections = 0;
  for (const auto& [other, peer] : peers_) {
    if (site_[static_cast<std::size_t>(other)] != site) continue;
    connections += static_cast<std::uint32_t>(std::min<std::size_t>(alive(peer, true, true), peer.busy_stripes));
  }
  busy.most = {.bytes = busy.bytes, .seconds = seconds, .connections = connections};
}

}  // namespace urakata::transport
