// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/stripe.hpp"

#include <netinet/tcp.h>

#include <algorithm>

namespace urakata::transport {

std::byte* ArrivingPiece::spill_for(Room why, std::uint64_t bytes) {
  room = why;
  spill.resize(std::max<std::uint64_t>(bytes, 1));
  return spill.data();
}

std::uint64_t Stripe::measure_silence(const TcpFacts& facts, std::uint64_t now) {
  constexpr std::uint64_t kMillisecond = 1'000'000;  // ns
  // A process that computes says nothing for long; its kernel answers.
  if (facts.state == TCP_SYN_SENT) return now - made_ns;
  if (facts.not_acknowledged == 0) {
    unanswered_since_ns.reset();
    return 0;
  }
  if (!unanswered_since_ns) unanswered_since_ns = now;
  // The last acknowledgement may be from long before what is under way now.
  const std::uint64_t since = !connection->open ? made_ns : out ? given.busy_since_ns : *unanswered_since_ns;
  return std::min<std::uint64_t>(facts.since_ack_ms * kMillisecond, now - since);
}

void Stripe::divert() {
  if (arriving.under_way && arriving.room != ArrivingPiece::Room::thrown_away) {
    connection->divert(arriving.spill_for(ArrivingPiece::Room::thrown_away, connection->incoming()));
  }
}

void Stripe::divert(const MessageKey& key) {
  if (!out && arriving.under_way && arriving.key == key) divert();
}

}  // namespace urakata::transport
