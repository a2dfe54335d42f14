// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/stripe_peer.hpp"

#include <algorithm>

namespace urakata::transport {

void PeerSilence::note_down(std::uint64_t silence_ns, std::uint64_t now, std::uint64_t timeout_ns) {
  constexpr std::uint64_t kMakingAnew = 1'000'000'000;  // ns
  if (down_since_ns) return;
  const std::uint64_t most = timeout_ns - std::min(timeout_ns / 2, kMakingAnew);
  const std::uint64_t wanted_ns = wanted_since_ns ? now - *wanted_since_ns : 0;
  down_since_ns = now - std::min({silence_ns, wanted_ns, most});
}

std::size_t StripePeer::alive(bool out, bool open) const {
  return static_cast<std::size_t>(std::ranges::count_if(stripes, [&](const Stripe& stripe) {
    return stripe.out == out && !stripe.connection->broken() && (stripe.connection->open || !open);
  }));
}

bool StripePeer::acknowledging() const {
  return std::ranges::any_of(stripes, [](const Stripe& stripe) { return stripe.acknowledgements.telling; });
}

void StripePeer::forget_silence() {
  silence.down_since_ns.reset();
  silence.wanted_since_ns.reset();
  silence.node.reset();
  for (Stripe& stripe : stripes) stripe.unanswered_since_ns.reset();
}

}  // namespace urakata::transport
