// SPDX-License-Identifier: BSD-3-Clause
// One stripe: a connection of a pair, what it has under way, and what is known of its silence.
//
// A stripe carries payload in one direction only. The side that sends makes it, the side that receives accepts it.
//
// Thread-safety: under the lock of Stripes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "transport/stripes/outgoing_message.hpp"
#include "transport/stripes/stripe_traffic.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/tcp_facts.hpp"

namespace urakata::transport {

struct StripePeer;

// What a stripe of ours has been given and the peer has not acknowledged.
struct PiecesUnderWay {
  struct Piece {
    OutgoingMessage* message;
    std::uint64_t offset, bytes;
  };
  std::deque<Piece> pieces;         // oldest first
  std::uint64_t bytes = 0;          // of them
  std::uint64_t acked = 0;          // pieces
  bool busy = false;                // the last of `pieces` is not all in the kernel
  std::uint64_t busy_since_ns = 0;  // when it was last given a piece while all before were acknowledged
};

// The piece that is coming in at the moment, and after it the last.
struct ArrivingPiece {
  enum class Room : std::uint8_t {
    in_place,
    aside,       // `spill`, since its receive is not there yet
    thrown_away  // likewise, since nobody wants it
  };
  bool under_way = false;
  Room room = Room::in_place;
  MessageKey key;
  std::uint64_t offset = 0;
  std::vector<std::byte> spill;

  // Where so many bytes go that do not go in place.
  std::byte* spill_for(Room why, std::uint64_t bytes);
};

// What we acknowledge of a stripe of the peer's.
struct Acknowledgements {
  std::uint64_t come = 0;  // pieces
  std::uint64_t told = 0;  // as many of them have been acknowledged
  bool telling = false;    // as far as is known, the last acknowledgement has not arrived
};

struct Stripe {
  Stripe(StripePeer& whose, std::unique_ptr<Connection> by, bool ours, std::uint64_t now)
      : peer(whose), connection(std::move(by)), out(ours), made_ns(now) {}

  StripePeer& peer;
  std::unique_ptr<Connection> connection;
  const bool out;                                    // ours, for what we send; else for what we receive
  std::uint64_t made_ns;                             // or when its node was last known to answer before it was open
  std::optional<std::uint64_t> unanswered_since_ns;  // since the tick at which something was not acknowledged
  std::uint64_t silence_ns = 0;                      // at the last tick: without an answer for so long
  // Of one of ours:
  PiecesUnderWay given;
  StripeIncrease told_carried;  // totals at the last carried_since(), which returns the difference
  // Of one of the peer's:
  ArrivingPiece arriving;
  Acknowledgements acknowledgements;

  bool sends() const { return out && connection->open && !connection->broken(); }
  // For how long (ns) the other end has answered nothing.
  std::uint64_t measure_silence(const TcpFacts& facts, std::uint64_t now);
  // The rest of the piece that comes in is thrown away.
  void divert();
  // As divert(), if the piece that comes in belongs to this message.
  void divert(const MessageKey& key);
};

}  // namespace urakata::transport
