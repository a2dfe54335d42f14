// SPDX-License-Identifier: BSD-3-Clause
// From the arguments of MPI_Send and its kin to a descriptor (messages/message_descriptor.hpp). Inline, as is all of
// the fast path of a small message (fast_calls.hpp).
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include <cstdint>

#include "messages/message_descriptor.hpp"
#include "shim/native/abi.hpp"
#include "shim/process/space.hpp"
#include "shim/requests/message_state.hpp"
#include "shim/types/datatype.hpp"

namespace urakata::shim {

using messages::copy_of;

// The type of a descriptor; in the shim it is always a Datatype.
inline const Datatype& datatype_of(const MessageDescriptor& descriptor) {
  return static_cast<const Datatype&>(*descriptor.type);
}

// Sets the descriptor's buffer and type. False: an argument is wrong.
[[gnu::always_inline]] inline bool describe(void* address, std::int64_t count, MPI_Datatype type,
                                            MessageDescriptor& descriptor) {
  if (count < 0) return false;
  const Datatype* const elements = datatype(type);
  if (elements == nullptr) return false;
  descriptor.type = elements;
  const auto number = static_cast<std::uint64_t>(count);
  // Types of absolute addresses begin at MPI_BOTTOM, which is nullptr too, and have their bytes elsewhere.
  if (address == nullptr && elements->true_lb == 0 && number * elements->size != 0) return false;
  messages::describe_buffer(address, number, *elements, descriptor);
  return true;
}

// Sets the endpoint communicator, the pattern and the carrier of a receive or a probe. False: the call falls back, also
// if the MPI library has to refuse an argument.
[[gnu::always_inline]] inline bool probing(int source, int tag, MPI_Comm comm, MessageDescriptor& descriptor) {
  if (endpoint() == nullptr) return false;
  descriptor.endpoint_comm = endpoint_comm(comm);
  if (descriptor.endpoint_comm == nullptr) return false;
  const bool any = source == MPI_ANY_SOURCE;
  if (!any && !descriptor.endpoint_comm->has(source)) return false;
  if (tag != MPI_ANY_TAG && (tag < 0 || tag > largest_tag())) return false;
  messages::route_receive(any ? p2p::kAnySource : source, tag == MPI_ANY_TAG ? p2p::kAnyTag : tag, descriptor);
  return true;
}

// probing() and describe(), for a receive.
[[gnu::always_inline]] inline bool incoming(void* address, std::int64_t count, MPI_Datatype type, int source, int tag,
                                            MPI_Comm comm, MessageDescriptor& descriptor) {
  return probing(source, tag, comm, descriptor) && describe(address, count, type, descriptor);
}

// The descriptor of a send to a rank of the space. False: the receiver is not in the space, or the call falls back.
[[gnu::always_inline]] inline bool outgoing(const void* address, std::int64_t count, MPI_Datatype type, int dest,
                                            int tag, MPI_Comm comm, p2p::Mode mode, MessageDescriptor& descriptor) {
  if (endpoint() == nullptr) return false;
  descriptor.endpoint_comm = endpoint_comm(comm);
  return descriptor.endpoint_comm != nullptr && descriptor.endpoint_comm->has(dest) && tag >= 0 &&
         tag <= largest_tag() && messages::route_send(dest, tag, mode, descriptor) &&
         describe(const_cast<void*>(address), count, type, descriptor);
}

// The descriptor of a send by the link. False: the link does not reach the receiver, or the call falls back.
[[gnu::noinline]] inline bool outgoing_by_link(const void* address, std::int64_t count, MPI_Datatype type, int dest,
                                               int tag, MPI_Comm comm, p2p::Mode mode, MessageDescriptor& descriptor) {
  if (endpoint() == nullptr) return false;
  descriptor.endpoint_comm = endpoint_comm(comm);
  return descriptor.endpoint_comm != nullptr && descriptor.endpoint_comm->has(dest) && tag >= 0 &&
         tag <= largest_tag() && messages::route_send_by_link(dest, tag, mode, descriptor) &&
         describe(const_cast<void*>(address), count, type, descriptor);
}

}  // namespace urakata::shim
