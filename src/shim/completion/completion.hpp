// SPDX-License-Identifier: BSD-3-Clause
// The end of one request of ours: what the program gets to see of it.
//
// Thread-safety: as MPI says of MPI_Wait.
#pragma once

#include <cstdint>

#include "shim/native/abi.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

// The first failure in a call that completes requests of ours. The error handler is called for it alone.
class Failure {
 public:
  Failure() = default;
  ~Failure() { release_layout(); }
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;

  // Notes the result of a request that has ended. MPI_SUCCESS, and failures after the first, change nothing.
  void note(const Request& request, const RequestResult& result);
  bool any() const { return code_ != MPI_SUCCESS; }

  // Calls the error handler; the result is the MPI error code of the call.
  int tell();
  // The same for a call with an array of requests, which fails with MPI_ERR_IN_STATUS. As the MPI library does it: Open
  // MPI's handler is the first failed request's and gets its error, MPICH's is that of MPI_COMM_WORLD and gets
  // MPI_ERR_IN_STATUS.
  int tell_of_array();

 private:
  void release_layout();

  int code_ = MPI_SUCCESS;
  bool told_ = false;
  Communicator* communicator_ = nullptr;   // retained
  EndpointComm* endpoint_comm_ = nullptr;  // retained
};

// Ends a finished request off the fast path: copies staged data back, notes the end for the report, sets the status,
// and makes the request inactive. It still retains what it retained. Result and `begin` are as those of complete().
int conclude(Request& request, MPI_Status* status, std::uint64_t begin, Failure& failure);
// Completes a finished request: as conclude(), and destroys it unless it is persistent. Sets the handle. The result is
// the request's MPI error code; `failure` notes it. `begin`: of the call, by observed_entry().
int complete(Request& request, MPI_Request* handle, MPI_Status* status, std::uint64_t begin, Failure& failure);
// The same for a call with one request. The error handler has been called.
int complete(Request& request, MPI_Request* handle, MPI_Status* status, std::uint64_t begin);

// Completes all requests of ours in an array, which are done, after the MPI library has completed its own with the
// result `native_code`. The result is that of the call.
int complete_all(int count, MPI_Request* requests, MPI_Status* statuses, std::uint64_t begin, int native_code);

// A handle in our range that is not in use: the program waits twice, or for a freed request.
inline int stale() { return complain(nullptr, MPI_ERR_REQUEST); }

// To be called first in a call that waits for these requests or tests them. Returns the time at which the call began;
// 0: there is no report.
std::uint64_t observed_entry(int count, const MPI_Request* requests);

}  // namespace urakata::shim
