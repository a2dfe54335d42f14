// SPDX-License-Identifier: BSD-3-Clause
// How many stripes a message may use.
//
// The number follows from the pair, or from all pairs, or from the message. Peers at other sites from which a receive
// is open share the link with what goes out to them.
//
// Thread-safety: under the lock of Stripes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/link_facts.hpp"
#include "transport/stripes/stripe_peer.hpp"

namespace urakata::transport {

class StripeCounts {
 public:
  explicit StripeCounts(std::uint32_t streams) : streams_(streams) {}

  // Sets the number of stripes of pairs that have no number of their own.
  void set(std::uint32_t streams) { streams_ = streams; }

  // How many stripes to the peer a message may use whose Message::streams is `wish`.
  Streams of(const StripePeer& to, const Streams& wish = {}) const {
    if (to.near && to.streams.most != 0) return to.streams;
    const Streams stripes = wish.most != 0         ? wish
                            : to.streams.most != 0 ? to.streams
                                                   : Streams{.most = streams_, .first = streams_};
    const std::uint32_t shared_by = std::max(awaited_, 1U);
    return {.most = std::max(stripes.most / shared_by, 1U),
            .first = std::max(std::max(stripes.most, stripes.first) / shared_by, 1U)};
  }

  // To be called when the open receives from the peer, or StripePeer::near, have changed.
  void note_awaited(StripePeer& peer) {
    const bool awaited = !peer.near && peer.incoming.any_posted();
    if (awaited == peer.awaited) return;
    peer.awaited = awaited;
    awaited_ += awaited ? 1U : -1U;
  }

 private:
  std::uint32_t streams_;
  std::uint32_t awaited_ = 0;  // number of peers from which a receive is open
};

}  // namespace urakata::transport
