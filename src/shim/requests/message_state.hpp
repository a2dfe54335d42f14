// SPDX-License-Identifier: BSD-3-Clause
// What a request keeps of the message that it stands for.
//
// Thread-safety: as the request's; endpoint_comm() may be read by any thread.
#pragma once

#include <atomic>
#include <memory>

#include "messages/message_descriptor.hpp"
#include "messages/mixed_receive.hpp"
#include "p2p/endpoint.hpp"
#include "shim/communicators/endpoint_comms.hpp"

namespace urakata::shim {

using messages::Carrier;
using messages::MessageDescriptor;

// The request retains the descriptor's endpoint communicator and type.
struct MessageState {
  p2p::Request* open = nullptr;                   // nullptr: finished, or not started
  p2p::Request* beside = nullptr;                 // the send of an Isendrecv, whose receive is `open`
  MessageDescriptor descriptor;                   // descriptor.endpoint_comm is nullptr: the request is something else
  p2p::Unexpected* matched = nullptr;             // what MPI_Mprobe has found, until MPI_Mrecv
  std::unique_ptr<messages::MixedReceive> mixed;  // instead of `open`, where the message may be the MPI library's
  p2p::Persistent persistent;                     // of a persistent request

  // descriptor.endpoint_comm, which any thread may read. So all writes to it go through this.
  std::atomic_ref<EndpointComm*> endpoint_comm() { return std::atomic_ref(descriptor.endpoint_comm); }
  // Sets the descriptor, the endpoint communicator last.
  void describe(const MessageDescriptor& given) {
    descriptor.type = given.type;
    descriptor.to = given.to;
    descriptor.peer = given.peer;
    descriptor.mode = given.mode;
    descriptor.carrier = given.carrier;
    descriptor.count = given.count;
    descriptor.buffer = given.buffer;
    descriptor.envelope = given.envelope;
    endpoint_comm().store(given.endpoint_comm, std::memory_order_release);
  }

  bool done() const {
    if (open != nullptr ? !open->done() : mixed != nullptr && !mixed->done()) return false;
    return beside == nullptr || beside->done();
  }
  // Empties the state of a message that is over. The other members of the descriptor mean nothing without those that
  // are emptied.
  void clear() {
    endpoint_comm().store(nullptr, std::memory_order_release);
    descriptor.type = nullptr;
    descriptor.to = nullptr;
    descriptor.peer = p2p::kNoPeer;
    descriptor.carrier = Carrier::space;
    open = beside = nullptr;
    matched = nullptr;
    mixed.reset();
    persistent = {};
  }
};

}  // namespace urakata::shim
