// SPDX-License-Identifier: BSD-3-Clause
// The highest rate at which this rank has sent to each site, to be compared with the predicted rate.
//
// A busy period of a site begins with the first byte that is to go there, and ends when all that was to go has come.
//
// Thread-safety: under the lock of Stripes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "transport/stripes/stripe_counts.hpp"
#include "transport/stripes/stripe_peer.hpp"
#include "transport/stripes/stripe_traffic.hpp"
#include "transport/transport.hpp"

namespace urakata::transport {

class BusyPeriods {
 public:
  BusyPeriods(StripePeers& peers, const StripeCounts& counts, std::uint64_t (*now)())
      : peers_(peers), counts_(counts), now_(now) {}

  // From now on, by these sites[rank]; only periods of at least `least` bytes count.
  void note_sites(std::span<const std::int32_t> sites, std::uint64_t least);
  // No more: something has failed.
  void stop() { site_.clear(); }
  // The fastest period so far.
  BusyPeriod fastest(std::int32_t site) const;

  void begin(StripePeer& to, const Message& message);
  // So many bytes have come.
  void end(const StripePeer& to, std::uint64_t bytes);

 private:
  struct Site {
    std::uint64_t open = 0;  // bytes of messages that have not come
    std::uint64_t begin_ns = 0, bytes = 0;
    BusyPeriod fastest;
  };

  std::int32_t site_of(const StripePeer& peer) const { return site_[static_cast<std::size_t>(peer.rank)]; }

  StripePeers& peers_;
  const StripeCounts& counts_;
  std::uint64_t (*const now_)();
  std::vector<std::int32_t> site_;  // of each rank; empty: nobody asks
  std::uint64_t least_ = 0;
  std::map<std::int32_t, Site> sites_;
};

}  // namespace urakata::transport
