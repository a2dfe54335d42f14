// SPDX-License-Identifier: BSD-3-Clause
// Kinds of frames, and the header with which each frame of a connection of transport `wire` begins.
#pragma once

#include <cstdint>

namespace urakata::transport {

enum class FrameKind : std::uint32_t {
  hello = 0x75726101,  // first on a connection: `tag` is the rank that connects, `bytes` and `id` the job's secret
  probe,               // in place of hello, only to learn which rank listens at an address; fields as in hello
  hello_ack,           // the answer to any hello or to probe: `tag` is the answering rank; the rest as in hello
  message,             // `tag`; `bytes` of payload follow
  rts,                 // `tag`; a message of `bytes` waits at the sender under the number `id`
  cts,                 // back to the sender: the receive for message `id` is there
  payload,             // `bytes` of payload of message `id` follow
  notice,              // operations on context `tag` have failed; `id`: the sender's own number for it
  // Of the connections for the program's own messages (wire_link.hpp).
  hello_ordered,   // in place of hello: this is to be the pair's connection for frames in order
  hello_bulk,      // in place of hello: this is to be the pair's connection for payload
  eager,           // `tag`; `id`: the rest of the envelope; `bytes` of payload follow
  eager_answered,  // as eager; before the payload comes the number of the send, to be answered by link_cts
  link_rts,        // `tag`, `id` as in eager; size of the payload and number of the send follow
  link_rts_ahead,  // as link_rts, of a payload that is on its way by stripes; the number of its order follows, too
  link_cts,        // the answer to the RTS of send `id`; number of the receive and bytes wanted follow
  credit,          // `bytes` of credit are given back
  piece,           // the next `bytes` of payload for receive `id` follow
  link_spread,     // all payload for receive `id` comes by stripes
  // Of the connections between sites (stripes.hpp).
  hello_stripe,    // in place of hello: this is to be a stripe from the connecting rank to the accepting one
  stripe_piece,    // `tag`; `id`: which message of that tag, and where in it the `bytes` of payload that follow belong
  stripe_end,      // as stripe_piece, for the piece with which the message ends
  stripe_ack,      // back to the sender: number of pieces (in `bytes`) that have come by this connection so far
  clear_to_send,   // back to the sender: the receive of message `id` of `tag` is there
  stripe_refused,  // in place of hello_ack to hello_stripe: this end has given up the pair; fields as in hello_ack
  // Frames of neighbourhood channels (puts.hpp); `tag`: number of the addressee's sink.
  put,        // `bytes` bytes of payload follow; `id`: channel and exchange of the payload
  put_open,   // back to the sender: a channel is joined; `id`: its two numbers; `bytes`: see halo/far_in.cpp
  put_ready,  // back to the sender: the receiver has begun exchange `id`
  put_over,   // the neighbourhood channel of this frame's sender has failed
};

constexpr bool is_put(FrameKind kind) { return kind >= FrameKind::put && kind <= FrameKind::put_over; }

struct Frame {
  FrameKind kind = FrameKind::hello;
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
  std::uint64_t id = 0;
};
static_assert(sizeof(Frame) == 24);

}  // namespace urakata::transport
