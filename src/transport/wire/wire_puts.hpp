// SPDX-License-Identifier: BSD-3-Clause
// Puts by the connections of a Wire's pairs (puts.hpp).
//
// Thread-safety: PutWire's calls by any thread; they take the Wire's lock. For place() and arrived() the Wire holds it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/mutex.hpp"
#include "transport/wire/frame.hpp"
#include "transport/wire/put_sinks.hpp"
#include "transport/wire/puts.hpp"
#include "transport/wire/wire_peers.hpp"

namespace urakata::transport {

class WirePuts final : public PutWire {
 public:
  WirePuts(Mutex& lock, WirePeers& peers, PutSinks& sinks) : lock_(lock), peers_(peers), sinks_(sinks) {}

  std::int32_t add(PutSink& sink) override;
  void remove(std::int32_t number) override;
  void watch(std::int32_t rank, PutSink& sink) override;
  bool put(std::int32_t to, const Frame& frame, const std::byte* payload, PutSink& from,
           std::uint32_t channel) override;
  void give_up(PutSink& sink) override;

  // Room for the payload of a put from the peer, which is rank `from`. nullptr: the frame is invalid.
  std::byte* place(std::int32_t from, WirePeer& sender, const Frame& frame);
  // A frame of puts has come. False: it is invalid.
  bool arrived(std::int32_t from, WirePeer& sender, const Frame& frame);

 private:
  Mutex& lock_;

  // Under the lock, by anyone.
  WirePeers& peers_;
  PutSinks& sinks_;
};

}  // namespace urakata::transport
