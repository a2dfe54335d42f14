// SPDX-License-Identifier: BSD-3-Clause
// A request for one blocking call, outside the table of requests and without a handle.
//
// Thread-safety: an object belongs to its thread.
#pragma once

#include <utility>
#include <vector>

#include "shim/requests/neighbour_exchange.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

// Its list of types is kept per thread, so that it is not allocated in each call.
class CallRequest {
 public:
  CallRequest() { request_.types = std::exchange(types(), {}); }
  ~CallRequest() {
    clear_request(request_);
    types() = std::move(request_.types);
  }
  CallRequest(const CallRequest&) = delete;
  CallRequest& operator=(const CallRequest&) = delete;

  Request& operator*() { return request_; }

 private:
  static std::vector<const Datatype*>& types() {
    static thread_local std::vector<const Datatype*> kept;
    return kept;
  }
  Request request_;
};

}  // namespace urakata::shim
