// SPDX-License-Identifier: BSD-3-Clause
// Implements messages::NativeReceives by calls of the MPI library, and owns this rank's queue of mixed receives:
// receives on a communicator of which the endpoint reaches only some ranks (messages/mixed_receive.hpp).
//
// Thread-safety: open_mixed_queue() by the thread that calls MPI_Init; the rest by any.
#pragma once

#include "messages/mixed_queue.hpp"
#include "shim/native/abi.hpp"
#include "shim/process/space.hpp"

namespace urakata::shim {

// The queue of this rank; nullptr: the rank has no endpoint. It stays after MPI_Finalize has taken the endpoint away.
[[gnu::visibility("hidden")]] extern constinit messages::MixedQueue* mixed_queue;
// Sets native_receives, too. `concurrent`: the program's threads may call at once.
void open_mixed_queue(p2p::Endpoint& endpoint, bool concurrent);

// Polls the queue. Returns whether anything moved.
inline bool progress_mixed() {
  return endpoint() != nullptr &&
         mixed_queue->progress();  // receives may be in the queue when MPI_Finalize has taken the endpoint
}

// Probes the MPI library for a message that no receive of the queue takes. False: there is none.
bool probe_native(const messages::MessageDescriptor& descriptor, MPI_Status* status);
// The same by MPI_Improbe, which takes the message.
bool take_from_native(const messages::MessageDescriptor& descriptor, MPI_Message* message, MPI_Status* status);

}  // namespace urakata::shim
