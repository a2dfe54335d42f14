// SPDX-License-Identifier: BSD-3-Clause
// The end of one request of ours: what the program gets to see of it.
//
// Thread-safety: as MPI says of MPI_Wait.
#pragma once

#include <cstdint>

#include "shim/native/abi.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

// What went wrong in a call that completes requests of ours: the program is told once, of the first.
class Failure {
 public:
  Failure() = default;
  ~Failure() { release_layout(); }
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;

  // The request has ended so; MPI_SUCCESS is no failure.
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

// A collective or message off the fast path that is finished: reports and sets the status; the request still
// retains all that it retained. The result and `begin` are as those of complete().
int conclude(Request& request, MPI_Status* status, std::uint64_t begin, Failure& failure);
// A request that is finished: reports, gives it back (or makes it inactive), sets handle and status. The result is the
// request's MPI error code, which the program is told of through `failure`. `begin`: of the call, by observed_entry().
int complete(Request& request, MPI_Request* handle, MPI_Status* status, std::uint64_t begin, Failure& failure);
// The same for a call with one request: the error handler has been called.
int complete(Request& request, MPI_Request* handle, MPI_Status* status, std::uint64_t begin);

// Completes all requests of ours in an array, which are done, after the MPI library has completed its own with the
// result `native_code`. The result is that of the call.
int complete_all(int count, MPI_Request* requests, MPI_Status* statuses, std::uint64_t begin, int native_code);

// A handle in our range that is not in use: the program waits twice, or for a freed request.
inline int stale() { return complain(nullptr, MPI_ERR_REQUEST); }

// Begins a call that waits for these requests or tests them: the time, where somebody observes.
std::uint64_t observed_entry(int count, const MPI_Request* requests);

}  // namespace urakata::shim
