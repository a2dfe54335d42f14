// SPDX-License-Identifier: BSD-3-Clause
// Which rank copies a message whose elements have holes (docs/design/decisions/0035-who-copies.md).
#pragma once

#include <cstdint>
#include <optional>

#include "p2p/elements.hpp"
#include "p2p/pieces.hpp"

namespace urakata::p2p {

enum class Copying : std::uint8_t {
  receiver,  // the receiver copies from the sender's elements into its own, in one pass
  sender,    // the sender packs; the receiver unpacks
  both,      // the receiver copies, and a sender that waits copies pieces too
};

// Thresholds that decide which rank copies, in payload bytes if nothing else is said. Each rank of a space may have its
// own. Compact, since what every message touches of an endpoint stands behind it.
struct CopyingSettings {
  std::optional<Copying> always = std::nullopt;  // elements with holes; chosen for each message where it is not said
  // On Intel's processors: how many times less of a cache whole lines have for which packing pays, too. (16: those that
  // lie 1 KiB apart; the sender's first cache has room for few.)
  std::uint16_t crowded = 16;
  // On Intel's processors: bytes of memory for each byte of payload, from which on short blocks lie loosely.
  std::uint32_t loose = 3;
  // Below, packing, unpacking and one way for the sender's word and its lines take less than a receiver that reads the
  // elements in place: it needs a line of the sender for where they are before it can ask for the first of them.
  std::uint64_t pack_below = 4 << 10;
  // From here on a waiting sender helps: where one side has holes, and where neither has. From share_from on, too, a
  // receiver unpacks what is packed while the sender packs the rest.
  std::uint64_t share_from = 8 << 10;
  std::uint64_t share_plain_from = 64 << 10;
  // Blocks below this, a line, take several times as long to read out of another core's cache as to pack.
  std::uint32_t short_block = 64;
  // In an exchange payloads of up to so many bytes are copied aside by their sender, if it is a standard send and not
  // more than Endpoint::kMostAside are aside. The program is about to write what it sends anew. Lines that the receiver
  // has read there are dear to write then, one by one, and in a copy they are written in one go (pack_across()); nor
  // does a sender wait for its receiver, or help it. Measured with every word written and read between exchanges
  // (bench/halo and a loop like it): on cores apart 0.6 to 0.8 of the time at any block from 256 B on; on two threads
  // of one core
  // 1.05 to 1.25 of it.
  std::uint64_t exchange_most = 64 << 10;
  // Other payloads of an exchange are packed where their blocks have up to so many bytes.
  std::uint32_t exchange_block = 128;
  // Up to so many bytes, a standard send that has waited in vain copies its payload aside.
  std::uint64_t set_aside_most = 64 << 10;
  PieceSizes pieces = {};  // of payloads that two ranks copy together

  bool operator==(const CopyingSettings&) const = default;
};

// What is best for a payload of these elements, which have a shape. `exchange`: the sender waits for messages as well,
// so it will be busy with those.
Copying choose_copying(const Elements& from, std::uint64_t bytes, const CopyingSettings& settings, bool exchange);

}  // namespace urakata::p2p
