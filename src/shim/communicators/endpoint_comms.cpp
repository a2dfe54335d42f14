// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/endpoint_comms.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/messages/native_receive_calls.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/world_ranks.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/space.hpp"
#include "shim/progress/wait_until.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

namespace {

EndpointComms& endpoint_comms() {
  static auto* map = new EndpointComms;
  return *map;
}

// Those whose communicators the program has freed while requests were open.
struct ClosedEndpointComms {
  Mutex lock;
  std::vector<const EndpointComm*> all URAKATA_GUARDED_BY(lock);
};
ClosedEndpointComms& closed_endpoint_comms() {
  static auto* made = new ClosedEndpointComms;
  return *made;
}

bool is_pending(const Request& request) { return !request.finished(); }
// Is it a receive that the MPI library may be asked for now, or at a later start?
bool may_need_native(const Request& request) {
  const bool by_endpoint = messages::by_endpoint(request.message.descriptor.carrier);
  return request.is_message() && !by_endpoint && (request.persistent || request.message.mixed != nullptr);
}

// Looks at all requests that exist, so not for calls that must be fast. Those of other endpoint communicators may be in
// use by other threads, so nothing but their endpoint communicator is read.
template <class Is>
bool any_request(const EndpointComm& endpoint_comm, Is is) {
  const std::uint32_t made = request_table.made.load(std::memory_order_acquire);
  return std::any_of(request_table.requests, request_table.requests + made,
                     [&](Request& request) { return request.endpoint_comm() == &endpoint_comm && is(request); });
}

// A key that is not there leaves the assertion as it is.
void note_assertion(EndpointComm& open, unsigned assertion, MPI_Info info, const char* key) {
  char value[8] = {};
  int found = 0;
  native.Info_get(info, key, sizeof value - 1, value, &found);
  if (found == 0) return;
  if (std::string_view(value) == "true") {
    open.assertions.fetch_or(assertion, std::memory_order_relaxed);
  } else {
    open.assertions.fetch_and(~assertion, std::memory_order_relaxed);
  }
}

}  // namespace

EndpointComm* look_up_endpoint_comm(MPI_Comm handle) {
  const auto found = endpoint_comms().find(handle);
  if (found.known) return found.object;
  return handle != MPI_COMM_NULL ? endpoint_comms().insert(handle, nullptr) : nullptr;
}

void open_endpoint_comm(MPI_Comm made, const job::MemberContexts& contexts) {
  if (endpoint() == nullptr) return;
  const std::vector<int> world = world_ranks(made);
  std::vector<EndpointComm::Peer> peers;
  peers.reserve(world.size());
  for (const int member : world) {
    p2p::Port* const port = port_of(member);
    peers.push_back({port, contexts.endpoint_comm_of(member), port != nullptr ? p2p::kNoPeer : link_to(member)});
  }
  int rank = 0;
  native.Comm_rank(made, &rank);
  const std::uint32_t own = contexts.endpoint_comm_of(process_state.world_rank);
  if (EndpointComm* const opened =
          EndpointComm::make(native_receive_calls(), bits(made), rank, own, std::move(peers))) {
    endpoint_comms().insert(made, opened);
  }
}

void for_each_endpoint_comm(const std::function<void(const EndpointComm&)>& visit) {
  endpoint_comms().for_each([&](const EndpointComm* one) {
    if (one != nullptr) visit(*one);
  });
  const LockGuard guard(closed_endpoint_comms().lock);
  for (const EndpointComm* const one : closed_endpoint_comms().all) visit(*one);
}

void note_assertions(MPI_Comm handle, MPI_Info info) {
  if (endpoint() == nullptr || info == MPI_INFO_NULL) return;
  EndpointComm* open = endpoint_comm(handle);
  if (open == nullptr) return;
  note_assertion(*open, EndpointComm::kNoAnySource, info, "mpi_assert_no_any_source");
  note_assertion(*open, EndpointComm::kOvertaking, info, "mpi_assert_allow_overtaking");
}

EndpointComm::Freed before_free(MPI_Comm handle, bool disconnects) {
  const EndpointComm* const open = endpoint_comms().find(handle).object;
  if (open == nullptr || open->unused()) return {};
  const bool kept = !disconnects && open->mixed && any_request(*open, may_need_native);
  return {kept, kept ? 0 : keep_error_handler(handle)};
}

void withdraw_endpoint_comm(MPI_Comm handle) { endpoint_comms().withdraw(handle); }
void restore_endpoint_comm(MPI_Comm handle) { endpoint_comms().restore(handle); }

void close_endpoint_comm(MPI_Comm handle, const EndpointComm::Freed& freed) {
  EndpointComm* const gone = endpoint_comms().erase(handle);
  if (gone == nullptr) return;
  if (!gone->unused()) {
    const LockGuard guard(closed_endpoint_comms().lock);
    closed_endpoint_comms().all.push_back(gone);
  }
  gone->close(freed);
}

void forget_closed_endpoint_comm(const EndpointComm& endpoint_comm) {
  {
    const LockGuard guard(closed_endpoint_comms().lock);
    std::erase(closed_endpoint_comms().all, &endpoint_comm);
  }
  forget_error_handler(endpoint_comm.freed().handler);
}

void drain_endpoint_comm(MPI_Comm handle) {
  const EndpointComm* const open = endpoint() != nullptr ? endpoint_comms().find(handle).object : nullptr;
  if (open == nullptr) return;
  // A message whose request another thread frees is left behind first, so that is asked last.
  wait_until([&] { return (open->unused() || !any_request(*open, is_pending)) && open->none_left_behind(); });
}

}  // namespace urakata::shim
