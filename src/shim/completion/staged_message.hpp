// SPDX-License-Identifier: BSD-3-Clause
// Blocking calls whose message has a request all the same, since its buffer must be staged (requests/staging.hpp).
//
// Thread-safety: as MPI says of the call.
#pragma once

#include "shim/messages/message_arguments.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

// Waits for what start_staged() (messages/message.hpp) has started. The result is an MPI error code; the error handler
// has been called.
[[gnu::cold]] int finish_staged(MPI_Request handle, MPI_Status* status);
// start_staged() and finish_staged(), for a blocking call.
[[gnu::cold]] int run_staged(const MessageDescriptor& descriptor, MPI_Status* status);

}  // namespace urakata::shim
