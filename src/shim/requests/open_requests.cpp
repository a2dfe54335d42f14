// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/open_requests.hpp"

#include <algorithm>
#include <cstdint>

#include "base/mutex.hpp"
#include "shim/process/space.hpp"
#include "shim/progress/wait_until.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

namespace {

bool is_pending(const Request& request) { return !request.finished(); }
// Whether the request is a receive for which the MPI library may be asked, now or at a later start.
bool may_need_native(const Request& request) {
  const bool by_endpoint = messages::by_endpoint(request.message.descriptor.carrier);
  return request.is_message() && !by_endpoint && (request.persistent || request.message.mixed != nullptr);
}

// Looks at all requests that exist, so not for calls that must be fast. Other threads may use requests of other
// endpoint communicators, so nothing but the endpoint communicator is read of these.
template <class Is>
bool any_request(const EndpointComm& endpoint_comm, Is is) {
  const std::uint32_t made = request_table.made.load(std::memory_order_acquire);
  return std::any_of(request_table.requests, request_table.requests + made, [&](Request& request) {
    if (request.endpoint_comm() != &endpoint_comm) return false;
    const LockGuard guard(ending_lock);  // another thread may end the request
    return request.endpoint_comm() == &endpoint_comm && is(request);
  });
}

}  // namespace

EndpointComm::Freed before_free(MPI_Comm handle, bool disconnects) {
  const EndpointComm* const open = known_endpoint_comm(handle);
  if (open == nullptr || open->unused()) return {};
  const bool kept = !disconnects && open->mixed && any_request(*open, may_need_native);
  return {kept, kept ? 0 : keep_error_handler(handle)};
}

void drain_endpoint_comm(MPI_Comm handle) {
  const EndpointComm* const open = endpoint() != nullptr ? known_endpoint_comm(handle) : nullptr;
  if (open == nullptr) return;
  // If another thread frees a request, its message first counts as left behind, then not as pending any more. So
  // none_left_behind() is asked last.
  wait_until([&] { return (open->unused() || !any_request(*open, is_pending)) && open->none_left_behind(); });
}

}  // namespace urakata::shim
