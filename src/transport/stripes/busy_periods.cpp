// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/busy_periods.hpp"

#include <algorithm>

namespace urakata::transport {

void BusyPeriods::note_sites(std::span<const std::int32_t> sites, std::uint64_t least) {
  site_.assign(sites.begin(), sites.end());
  least_ = least;
  sites_.clear();
}

BusyPeriod BusyPeriods::fastest(std::int32_t site) const {
  const auto found = sites_.find(site);
  return found == sites_.end() ? BusyPeriod{} : found->second.fastest;
}

void BusyPeriods::begin(StripePeer& to, const Message& message) {
  if (site_.empty()) return;
  const std::int32_t number = site_of(to);
  Site& site = sites_[number];
  if (site.open == 0) {
    site.begin_ns = now_();
    site.bytes = 0;
    for (auto& [rank, peer] : peers_) {
      if (site_of(peer) == number) peer.busy_stripes = 0;
    }
  }
  site.open += message.bytes;
  site.bytes += message.bytes;
  to.busy_stripes = std::max(to.busy_stripes, counts_.of(to, message.streams).most);
}

void BusyPeriods::end(const StripePeer& to, std::uint64_t bytes) {
  if (site_.empty()) return;
  const std::int32_t number = site_of(to);
  Site& site = sites_[number];
  site.open -= std::min(site.open, bytes);
  if (site.open != 0 || site.bytes < least_) return;
  const double seconds = static_cast<double>(now_() - site.begin_ns) * 1e-9;
  const auto rate = [](std::uint64_t of, double in) { return static_cast<double>(of) / in; };
  const BusyPeriod& fastest = site.fastest;
  if (fastest.bytes != 0 && rate(site.bytes, seconds) <= rate(fastest.bytes, fastest.seconds)) return;
  std::uint32_t connections = 0;
  for (const auto& [rank, peer] : peers_) {
    if (site_of(peer) != number) continue;
    connections += static_cast<std::uint32_t>(std::min<std::size_t>(peer.alive(true, true), peer.busy_stripes));
  }
  site.fastest = {.bytes = site.bytes, .seconds = seconds, .connections = connections};
}

}  // namespace urakata::transport
