// SPDX-License-Identifier: BSD-3-Clause
// Puts: payloads for which sender and receiver have agreed on a place beforehand. A put needs neither RTS nor CTS.
// Channels between nodes use puts (halo/far_channels.hpp). Transport `wire` carries them as frames on the connection
// of a pair of ranks, in order.
//
// Thread-safety: PutWire by any thread. The wire calls a sink with the wire's lock held, from any thread that polls or
// sends, one call at a time. The sink must not call the wire then.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/wire/frame.hpp"

namespace urakata::transport {

// The receiver of frames for one neighbourhood channel.
class PutSink {
 public:
  // The memory for the payload of this frame (FrameKind::put), `frame.bytes` bytes. nullptr: the frame is invalid, and
  // the connection is closed.
  virtual std::byte* place(std::int32_t from, const Frame& frame) = 0;
  // The frame has come, with all its payload. False: the frame is invalid, and the connection is closed.
  virtual bool arrived(std::int32_t from, const Frame& frame) = 0;
  // The payload of a put of this channel has left, and the sender may use its memory again.
  virtual void left(std::uint32_t channel) = 0;
  // The rank is lost: nothing comes from it or goes to it any more. Returns whether the sink still needed the rank.
  // May be called again.
  virtual bool lost(std::int32_t rank) = 0;

 protected:
  ~PutSink() = default;
};

class PutWire {
 public:
  static constexpr std::uint64_t kSlice = 256UL << 10;  // payload bytes of a frame at most

  // Registers a sink. Returns the number by which the peers' frames name the sink, unique at this rank.
  virtual std::int32_t add(PutSink& sink) = 0;
  // Removes a sink, with the effect of give_up(). Later frames for the sink are discarded.
  virtual void remove(std::int32_t number) = 0;

  // The sink waits for a frame of this rank. The wire connects to the rank, so that it can call lost() even if the rank
  // never connects. If the rank is lost already, the wire calls lost() before it returns.
  virtual void watch(std::int32_t rank, PutSink& sink) = 0;

  // Sends a frame to a rank. Returns whether the frame has left. If a put has not, its payload must stay until
  // left(channel) is called. If the rank is lost, the wire calls lost() before it returns.
  virtual bool put(std::int32_t to, const Frame& frame, const std::byte* payload, PutSink& from,
                   std::uint32_t channel) = 0;

  // Drops all payloads of this sink that have not left, and stops all reads into its memory.
  virtual void give_up(PutSink& sink) = 0;

 protected:
  ~PutWire() = default;
};

}  // namespace urakata::transport
