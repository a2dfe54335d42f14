// The end of one request of ours: what the program gets to see of it.
//
// Thread-safety: as MPI says of MPI_Wait.
#pragma once

#include <cstdint>

#include "shim/abi.hpp"
#include "shim/request.hpp"

namespace urakata::shim {

// A request that is finished: reports, gives it back (or makes it inactive), sets handle and status. The result is an
// MPI error code; the error handler has been called. `begin`: of the call, by observed_now().
int complete(Request& request, MPI_Request* handle, MPI_Status* status, std::uint64_t begin);

// As the standard says for null and inactive requests, and for collectives: the host's own empty status.
void empty_status(MPI_Status* status);

// Calls the error handler of the communicator (nullptr: of MPI_COMM_WORLD); returns `code`.
int complain(const Communicator* communicator_of, int code);

// A handle in our range that is not in use: the program waits twice, or for a freed request.
inline int stale() { return complain(nullptr, MPI_ERR_REQUEST); }

// The time, where somebody observes.
std::uint64_t observed_now();

}  // namespace urakata::shim
