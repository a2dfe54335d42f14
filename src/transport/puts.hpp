// Puts: payloads whose place their two ends have agreed on before, so that each goes by itself, with neither RTS nor
// CTS. What an exchange plan's edges between nodes travel by (halo/far_edges.hpp); transport `wire` carries them as
// frames of a pair's connection, in order.
//
// Thread-safety: PutWire by any thread. A sink is called with the wire's lock held, by whoever polls the wire or sends,
// one at a time; it calls nothing of the wire's then.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/frame.hpp"

namespace urakata::transport {

// What becomes of the frames that come for a plan.
class PutSink {
 public:
  // Where the payload of this frame (FrameKind::put) is to go: room for `frame.bytes`. nullptr: that cannot be, and the
  // connection is closed.
  virtual std::byte* place(std::int32_t from, const Frame& frame) = 0;
  // It is here, with all its payload. False: as above.
  virtual bool arrived(std::int32_t from, const Frame& frame) = 0;
  // The payload of a put of this edge has left: it is the sender's again.
  virtual void left(std::uint32_t channel) = 0;
  // Nothing more comes from this rank, and nothing goes there. Returns whether anything was wanted of it. May be told again.
  virtual bool lost(std::int32_t rank) = 0;

 protected:
  ~PutSink() = default;
};

class PutWire {
 public:
  static constexpr std::uint64_t kSlice = 256UL << 10;  // payload bytes of a frame at most

  // The number by which the peers' frames name the sink from now on. No two have the same.
  virtual std::int32_t add(PutSink& sink) = 0;
  // Forgets it, as give_up(); what still comes for it is thrown away.
  virtual void remove(std::int32_t number) = 0;

  // The sink waits for a word of this rank: the wire connects to it, so that the sink is told when it is lost, also
  // where it never comes. Where it is lost already the sink is told so before this returns.
  virtual void watch(std::int32_t rank, PutSink& sink) = 0;

  // Sends a frame to a rank. True: it has left. False: a put leaves later, which left(edge) tells; until then its payload
  // stays. Where the rank is lost the sink is told so before this returns.
  virtual bool put(std::int32_t to, const Frame& frame, const std::byte* payload, PutSink& from,
                   std::uint32_t channel) = 0;

  // The payloads of this sink that have not left are forgotten, and none is written to a place of its any more.
  virtual void give_up(PutSink& sink) = 0;

 protected:
  ~PutWire() = default;
};

}  // namespace urakata::transport
