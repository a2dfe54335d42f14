// A message of the program's on a circle, from the arguments of MPI_Send and its kin. Inline, as is all of the usual
// way of a small message (usual.hpp): what is handed on in memory makes the processor wait for its own stores.
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
enum class Way : std::uint8_t { space, outside, either };

// A send or a receive that is ours to handle, with arguments that have been checked.
struct Letter {
  Circle* circle = nullptr;
  const Datatype* type = nullptr;
  p2p::Port* to = nullptr;  // of a send; nullptr: a receive
  p2p::Mode mode = p2p::Mode::standard;
  Way way = Way::space;    // of a receive
  std::int64_t count = 0;  // of elements
  p2p::Buffer buffer;
  p2p::Envelope envelope;  // of a send; the pattern of a receive
};

// A copy to be handed on by reference. Member by member: the letter itself can stay in registers then.
[[gnu::always_inline]] inline Letter copy_of(const Letter& letter) {
  const p2p::Buffer& buffer = letter.buffer;
  const p2p::Envelope& envelope = letter.envelope;
  return {letter.circle,
          letter.type,
          letter.to,
          letter.mode,
          letter.way,
          letter.count,
          {buffer.address, buffer.count, buffer.layout},
          {envelope.context, envelope.source, envelope.tag}};
}

// The buffer. False: an argument is wrong.
[[gnu::always_inline]] inline bool describe(void* address, std::int64_t count, MPI_Datatype type, Letter& letter) {
  if (count < 0) return false;
  letter.type = datatype(type);
  if (letter.type == nullptr) return false;
  const auto elements = static_cast<std::uint64_t>(count);
  // Types of absolute addresses begin at MPI_BOTTOM, which is nullptr too, and have their bytes elsewhere.
  if (address == nullptr && letter.type->true_lb == 0 && elements * letter.type->size != 0) return false;
  letter.count = count;
  letter.buffer.address = static_cast<std::byte*>(address);
  letter.buffer.count = letter.type->contiguous ? elements * letter.type->size : elements;
  letter.buffer.layout = letter.type->contiguous ? nullptr : letter.type;
  return true;
}

// Circle, pattern and way of a receive or a probe. True: the call is ours. False: it is the host's, also where the host
// has to refuse an argument.
[[gnu::always_inline]] inline bool probing(int source, int tag, MPI_Comm comm, Letter& letter) {
  if (endpoint() == nullptr) return false;
  letter.circle = circle(comm);
  if (letter.circle == nullptr) return false;
  const Circle& in = *letter.circle;
  const bool any = source == MPI_ANY_SOURCE;
  if (!any && static_cast<std::size_t>(source) >= in.peers.size()) return false;
  if (tag != MPI_ANY_TAG && (tag < 0 || tag > largest_tag())) return false;
  if (in.mixed && any) letter.way = Way::either;
  if (in.mixed && !any && in.peers[static_cast<std::size_t>(source)].port == nullptr) letter.way = Way::outside;
  letter.envelope.context = in.context;
  letter.envelope.source = any ? p2p::kAnySource : source;
  letter.envelope.tag = tag == MPI_ANY_TAG ? p2p::kAnyTag : tag;
  return true;
}

// The same for a receive.
[[gnu::always_inline]] inline bool incoming(void* address, std::int64_t count, MPI_Datatype type, int source, int tag,
                                            MPI_Comm comm, Letter& letter) {
  return probing(source, tag, comm, letter) && describe(address, count, type, letter);
}

// The same for a send.
[[gnu::always_inline]] inline bool outgoing(const void* address, std::int64_t count, MPI_Datatype type, int dest,
                                            int tag, MPI_Comm comm, p2p::Mode mode, Letter& letter) {
  if (endpoint() == nullptr) return false;
  letter.circle = circle(comm);
  if (letter.circle == nullptr || static_cast<std::size_t>(dest) >= letter.circle->peers.size()) return false;
  const Circle::Peer& peer = letter.circle->peers[static_cast<std::size_t>(dest)];
  if (peer.port == nullptr || tag < 0 || tag > largest_tag()) return false;
  if (!describe(const_cast<void*>(address), count, type, letter)) return false;
  letter.envelope.context = peer.context;
  letter.envelope.source = letter.circle->rank;
  letter.envelope.tag = tag;
  letter.to = peer.port;
  letter.mode = mode;
  return true;
}

}  // namespace urakata::shim
