// SPDX-License-Identifier: BSD-3-Clause
// What this layer asks of the MPI library. The shim has it from the real MPI library, tests from a model.
//
// Handles of the MPI library's are numbers here; what they stand for only the implementation knows. None of these is on
// the fast path. What the MPI library returns as an error code is handed on, 0 is success.
//
// Thread-safety: by any thread. Calls for receives come one at a time, under the queue's lock.
#pragma once

#include <cstdint>

#include "p2p/endpoint.hpp"

namespace urakata::messages {

class EndpointComm;
struct MessageDescriptor;

using NativeHandle = std::uintptr_t;

class NativeReceives {
 public:
  virtual ~NativeReceives() = default;

  // As MPI_Iprobe on the descriptor's communicator with its pattern: is there a message, and what is its envelope?
  virtual bool probe(const MessageDescriptor& pattern, p2p::Envelope* found) = 0;
  // As MPI_Improbe for `found`, which is the envelope of a message that probe() has found or a descriptor's pattern.
  // False: there is none (any more).
  virtual bool take(const MessageDescriptor& pattern, const p2p::Envelope& found, NativeHandle* message) = 0;

  // As MPI_Irecv into the descriptor's buffer. Where it fails there is no request, and the error handler was called.
  virtual int receive(const MessageDescriptor& descriptor, NativeHandle* request) = 0;
  // As MPI_Imrecv of `message`. If it fails, there is no request, and the error handler was called.
  virtual int receive(const MessageDescriptor& descriptor, NativeHandle message, NativeHandle* request) = 0;

  // As MPI_Request_get_status: has it ended? It stays as it is.
  virtual bool ended(NativeHandle request) = 0;
  virtual void cancel(NativeHandle request) = 0;
  // As MPI_Request_free: the operation goes on.
  virtual void free(NativeHandle request) = 0;

  // The program has given back a receive that the endpoint has: the endpoint finishes it by itself, and what the
  // descriptor refers to lives until then.
  virtual void leave_to_endpoint(p2p::Request& open, const MessageDescriptor& descriptor) = 0;
  // A receive that the program gave back while it stood in the queue is over, or goes on without this layer: its owner,
  // and with it the MixedReceive, is not needed any more.
  virtual void dispose(void* owner) = 0;

  // The program has freed the communicator, and the last user is gone.
  virtual void unused(const EndpointComm& endpoint_comm) = 0;
};

}  // namespace urakata::messages
