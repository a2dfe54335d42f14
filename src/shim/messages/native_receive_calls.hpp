// SPDX-License-Identifier: BSD-3-Clause
// The MPI library's side of the program's messages on endpoint communicators (messages/native_receives.hpp), and the
// queue of its mixed receives.
//
// Thread-safety: open_mixed_queue() by the thread that calls MPI_Init; the rest by any.
#pragma once

#include "messages/mixed_queue.hpp"
#include "shim/native/abi.hpp"
#include "shim/process/space.hpp"

namespace urakata::shim {

// This rank's; nullptr where it has no endpoint. Stays after MPI_Finalize has taken the endpoint away.
[[gnu::visibility("hidden")]] extern constinit messages::MixedQueue* mixed_queue;
// Sets native_receives, too. `concurrent`: the program's threads may call at once.
void open_mixed_queue(p2p::Endpoint& endpoint, bool concurrent);

// Moves on what can move. Returns whether anything did.
inline bool progress_mixed() {
  return endpoint() != nullptr && mixed_queue->progress();  // some may be left over in MPI_Finalize
}

// A probe at the MPI library for a message that no receive of the queue takes.
bool probe_native(const messages::MessageDescriptor& descriptor, MPI_Status* status);
bool take_from_native(const messages::MessageDescriptor& descriptor, MPI_Message* message, MPI_Status* status);

}  // namespace urakata::shim
