// SPDX-License-Identifier: BSD-3-Clause
// A message of the program's on an endpoint communicator, and its way: by the endpoint, by the MPI library, or, for a
// receive from any source, by whichever is first.
//
// Inline, as is all of the fast path of a small message: what is handed on in memory makes the processor wait for its
// own stores.
//
// Thread-safety: none; a value.
#pragma once

#include <cstdint>

#include "messages/endpoint_comm.hpp"
#include "p2p/endpoint.hpp"

namespace urakata::messages {

// Where a message comes from: a rank of the space, one that the endpoint reaches by its link, or, on a mixed endpoint
// communicator, one that it does not reach (through the MPI library) or either kind. From any source it is the last of
// these that is possible.
enum class Carrier : std::uint8_t { space, link, by_native, either };
// Whether only the endpoint can bring the message.
inline bool by_endpoint(Carrier carrier) { return carrier <= Carrier::link; }

// A send or a receive that is ours to handle, with arguments that have been checked.
struct MessageDescriptor {
  EndpointComm* endpoint_comm = nullptr;
  const layout::Layout* type = nullptr;  // of an element
  p2p::Port* to = nullptr;               // of a send to a rank of the space
  p2p::LinkPeer peer = p2p::kNoPeer;     // of a send by the link
  p2p::Mode mode = p2p::Mode::standard;
  Carrier carrier = Carrier::space;  // of a receive
  std::int64_t count = 0;            // of elements
  p2p::Buffer buffer;
  p2p::Envelope envelope;  // of a send; the pattern of a receive

  bool is_send() const { return to != nullptr || peer != p2p::kNoPeer; }
};

// A copy to be handed on by reference. Member by member: the descriptor itself can stay in registers then.
[[gnu::always_inline]] inline MessageDescriptor copy_of(const MessageDescriptor& descriptor) {
  const p2p::Buffer& buffer = descriptor.buffer;
  const p2p::Envelope& envelope = descriptor.envelope;
  return {descriptor.endpoint_comm,
          descriptor.type,
          descriptor.to,
          descriptor.peer,
          descriptor.mode,
          descriptor.carrier,
          descriptor.count,
          {buffer.address, buffer.count, buffer.layout},
          {envelope.context, envelope.source, envelope.tag}};
}

// The elements. `descriptor.buffer` is plain bytes where they have no holes.
[[gnu::always_inline]] inline void describe_buffer(void* address, std::uint64_t count, const layout::Layout& type,
                                                   MessageDescriptor& descriptor) {
  descriptor.count = static_cast<std::int64_t>(count);
  descriptor.buffer.address = static_cast<std::byte*>(address);
  descriptor.buffer.count = type.contiguous ? count * type.size : count;
  descriptor.buffer.layout = type.contiguous ? nullptr : &type;
}

// The way and the pattern of a receive or a probe on descriptor.endpoint_comm; `source` is a rank of it or kAnySource.
[[gnu::always_inline]] inline void route_receive(std::int32_t source, std::int32_t tag, MessageDescriptor& descriptor) {
  const EndpointComm& in = *descriptor.endpoint_comm;
  const bool any = source == p2p::kAnySource;
  if (in.wide && any) descriptor.carrier = in.mixed ? Carrier::either : Carrier::link;
  if (in.wide && !any) {
    const EndpointComm::Peer& peer = in.peers[static_cast<std::size_t>(source)];
    if (peer.port == nullptr) descriptor.carrier = peer.reached() ? Carrier::link : Carrier::by_native;
  }
  descriptor.envelope.context = in.context;
  descriptor.envelope.source = source;
  descriptor.envelope.tag = tag;
}

// Sets way, envelope and mode of a send to a rank of descriptor.endpoint_comm. False: that rank is not in this rank's
// space; the descriptor is unchanged.
[[gnu::always_inline]] inline bool route_send(std::int32_t dest, std::int32_t tag, p2p::Mode mode,
                                              MessageDescriptor& descriptor) {
  const EndpointComm::Peer& peer = descriptor.endpoint_comm->peers[static_cast<std::size_t>(dest)];
  if (peer.port == nullptr) return false;
  descriptor.envelope.context = peer.context;
  descriptor.envelope.source = descriptor.endpoint_comm->rank;
  descriptor.envelope.tag = tag;
  descriptor.to = peer.port;
  descriptor.mode = mode;
  return true;
}

// As route_send(), for a rank outside the space. False: the link does not reach the rank, so the message goes through
// the MPI library.
inline bool route_send_by_link(std::int32_t dest, std::int32_t tag, p2p::Mode mode, MessageDescriptor& descriptor) {
  const EndpointComm::Peer& peer = descriptor.endpoint_comm->peers[static_cast<std::size_t>(dest)];
  if (peer.link == p2p::kNoPeer) return false;
  descriptor.envelope = {peer.context, descriptor.endpoint_comm->rank, tag};
  descriptor.peer = peer.link;
  descriptor.mode = mode;
  return true;
}

}  // namespace urakata::messages
