// SPDX-License-Identifier: BSD-3-Clause
// Requests that are open on an endpoint communicator whose communicator the program frees or disconnects.
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include "shim/communicators/endpoint_comms.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

// The program is about to free or to disconnect the communicator. Returns what that means for its endpoint
// communicator, which stays as it is. If the MPI library's communicator is kept, receives may still be pending on it;
// it is freed after them.
EndpointComm::Freed before_free(MPI_Comm handle, bool disconnects);
// For MPI_Comm_disconnect: waits until no operation on the endpoint communicator is pending. An inactive persistent
// request is not pending.
void drain_endpoint_comm(MPI_Comm handle);

}  // namespace urakata::shim
