// SPDX-License-Identifier: BSD-3-Clause
// What can be done to a request, by what it stands for: a message, a running collective, an exchange with neighbours,
// or a send that was finished when it was started. Each type has one object that implements these functions for all its
// requests, like the function table of a file in a kernel. The calls that complete requests use these functions; they
// look at types only for the fast paths of messages (fast_calls.hpp), for finished sends, and in MPI_Test.
//
// Functions that return int return an MPI error code; they call no error handler unless they say so.
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include <cstdint>

#include "shim/native/abi.hpp"

namespace urakata::messages {
class EndpointComm;
}

namespace urakata::shim {

using messages::EndpointComm;
class StartList;
struct Request;

enum class RequestType : std::uint8_t {
  none,  // the request is not in use
  message,
  collective,
  exchange,
  finished_send,  // the request of all sends that were finished when they were started
};

// The result of a finished request.
struct RequestResult {
  int code = MPI_SUCCESS;
  bool told = false;  // whether the error handler has been called with the code
};

class RequestOperations {
 public:
  // Starts a persistent request that is inactive. With `together`, the start may be left to StartList::start(), which
  // the caller calls then; nullptr: the request is started at once. On an error the error handler has been called.
  virtual int start(Request& request, StartList* together) const = 0;
  // Whether an active request is done.
  virtual bool done(const Request& request) const = 0;
  // Returns when an active request is done. Makes progress of everything else meanwhile.
  virtual void wait(Request& request) const = 0;
  // A call that does not block until this request is done, such as MPI_Test, has found it unfinished. After many such
  // calls a send copies its payload aside.
  virtual void note_unsuccessful_test(Request& /*request*/) const {}
  // Whether a thread that waits for the request has to wait at the endpoint.
  virtual bool waits_at_endpoint(const Request& request) const = 0;

  // Ends a done or inactive request: sets the status, and notes the end for the report. The request retains what it
  // retained. `begin`: of the call, by observed_entry().
  virtual RequestResult finish(Request& request, MPI_Status* status, std::uint64_t begin) const = 0;
  // The status of a done or inactive request that stays as it is.
  virtual void peek(const Request& request, MPI_Status* status) const = 0;
  // Bytes that a done request has received, from the beginning of its receive buffer on. kAll: the whole buffer. 0 for
  // a send, and for a collective or an exchange that has failed.
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  virtual std::uint64_t received(const Request& request) const = 0;

  // MPI_Cancel. True: the call succeeds; a receive that has not matched is cancelled, and a send completes as always.
  // False: MPI_ERR_REQUEST, for a collective, an exchange or an inactive message.
  virtual bool cancel(Request& /*request*/) const { return false; }
  // The program frees the request. True: the operation goes on, and the request is destroyed when it is over; the
  // caller must not touch the request any more. False: the caller destroys the request.
  virtual bool abandon(Request& /*request*/) const { return false; }
  // Releases all that the request retains for its operation. The operation is over, or was never started.
  virtual void clear(Request& request) const = 0;

  // The endpoint communicator whose error handler is told of the request's failure; nullptr: that of
  // Request::communicator is.
  virtual EndpointComm* endpoint_comm(const Request& /*request*/) const { return nullptr; }

 protected:
  ~RequestOperations() = default;
};

// The implementation for each type, all of which entries/request_operations.cpp knows.
extern constinit const RequestOperations* const request_operations[];

}  // namespace urakata::shim
