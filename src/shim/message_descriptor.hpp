// A message of the program's on a circle, from the arguments of MPI_Send and its kin. Inline, as is all of the fast
// path of a small message (fast_path.hpp): what is handed on in memory makes the processor wait for its own stores.
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include <cstdint>

#include "shim/abi.hpp"
#include "shim/circle.hpp"
#include "shim/datatype.hpp"
#include "shim/space.hpp"

namespace urakata::shim {

// Where a message comes from: a rank of the space, one outside of it (on a mixed circle, through the host), or either.
enum class Carrier : std::uint8_t { space, by_host, either };

// A send or a receive that is ours to handle, with arguments that have been checked.
struct MessageDescriptor {
  Circle* circle = nullptr;
  const Datatype* type = nullptr;
  p2p::Port* to = nullptr;  // of a send; nullptr: a receive
  p2p::Mode mode = p2p::Mode::standard;
  Carrier carrier = Carrier::space;  // of a receive
  std::int64_t count = 0;            // of elements
  p2p::Buffer buffer;
  p2p::Envelope envelope;  // of a send; the pattern of a receive
};

// A copy to be handed on by reference. Member by member: the descriptor itself can stay in registers then.
[[gnu::always_inline]] inline MessageDescriptor copy_of(const MessageDescriptor& descriptor) {
  const p2p::Buffer& buffer = descriptor.buffer;
  const p2p::Envelope& envelope = descriptor.envelope;
  return {descriptor.circle,
          descriptor.type,
          descriptor.to,
          descriptor.mode,
          descriptor.carrier,
          descriptor.count,
          {buffer.address, buffer.count, buffer.layout},
          {envelope.context, envelope.source, envelope.tag}};
}

// The buffer. False: an argument is wrong.
[[gnu::always_inline]] inline bool describe(void* address, std::int64_t count, MPI_Datatype type,
                                            MessageDescriptor& descriptor) {
  if (count < 0) return false;
  descriptor.type = datatype(type);
  if (descriptor.type == nullptr) return false;
  const auto elements = static_cast<std::uint64_t>(count);
  // Types of absolute addresses begin at MPI_BOTTOM, which is nullptr too, and have their bytes elsewhere.
  if (address == nullptr && descriptor.type->true_lb == 0 && elements * descriptor.type->size != 0) return false;
  descriptor.count = count;
  descriptor.buffer.address = static_cast<std::byte*>(address);
  descriptor.buffer.count = descriptor.type->contiguous ? elements * descriptor.type->size : elements;
  descriptor.buffer.layout = descriptor.type->contiguous ? nullptr : descriptor.type;
  return true;
}

// Circle, pattern and way of a receive or a probe. True: the call is ours. False: it is the host's, also where the host
// has to refuse an argument.
[[gnu::always_inline]] inline bool probing(int source, int tag, MPI_Comm comm, MessageDescriptor& descriptor) {
  if (endpoint() == nullptr) return false;
  descriptor.circle = circle(comm);
  if (descriptor.circle == nullptr) return false;
  const Circle& in = *descriptor.circle;
  const bool any = source == MPI_ANY_SOURCE;
  if (!any && static_cast<std::size_t>(source) >= in.peers.size()) return false;
  if (tag != MPI_ANY_TAG && (tag < 0 || tag > largest_tag())) return false;
  if (in.mixed && any) descriptor.carrier = Carrier::either;
  if (in.mixed && !any && in.peers[static_cast<std::size_t>(source)].port == nullptr)
    descriptor.carrier = Carrier::by_host;
  descriptor.envelope.context = in.context;
  descriptor.envelope.source = any ? p2p::kAnySource : source;
  descriptor.envelope.tag = tag == MPI_ANY_TAG ? p2p::kAnyTag : tag;
  return true;
}

// The same for a receive.
[[gnu::always_inline]] inline bool incoming(void* address, std::int64_t count, MPI_Datatype type, int source, int tag,
                                            MPI_Comm comm, MessageDescriptor& descriptor) {
  return probing(source, tag, comm, descriptor) && describe(address, count, type, descriptor);
}

// The same for a send.
[[gnu::always_inline]] inline bool outgoing(const void* address, std::int64_t count, MPI_Datatype type, int dest,
                                            int tag, MPI_Comm comm, p2p::Mode mode, MessageDescriptor& descriptor) {
  if (endpoint() == nullptr) return false;
  descriptor.circle = circle(comm);
  if (descriptor.circle == nullptr || static_cast<std::size_t>(dest) >= descriptor.circle->peers.size()) return false;
  const Circle::Peer& peer = descriptor.circle->peers[static_cast<std::size_t>(dest)];
  if (peer.port == nullptr || tag < 0 || tag > largest_tag()) return false;
  if (!describe(const_cast<void*>(address), count, type, descriptor)) return false;
  descriptor.envelope.context = peer.context;
  descriptor.envelope.source = descriptor.circle->rank;
  descriptor.envelope.tag = tag;
  descriptor.to = peer.port;
  descriptor.mode = mode;
  return true;
}

}  // namespace urakata::shim
