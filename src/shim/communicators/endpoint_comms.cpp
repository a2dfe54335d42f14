// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/endpoint_comms.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/world_ranks.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/space.hpp"

namespace urakata::shim {

namespace {

EndpointComms& endpoint_comms() {
  static auto* map = new EndpointComms;
  return *map;
}

// Endpoint communicators whose communicators the program has freed while requests were open.
struct ClosedEndpointComms {
  Mutex lock;
  std::vector<const EndpointComm*> all URAKATA_GUARDED_BY(lock);
};
ClosedEndpointComms& closed_endpoint_comms() {
  static auto* made = new ClosedEndpointComms;
  return *made;
}

// Without the key in `info`, the assertion stays as it is.
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

constinit messages::NativeReceives* native_receives = nullptr;

EndpointComm* look_up_endpoint_comm(MPI_Comm handle) {
  const auto found = endpoint_comms().find(handle);
  if (found.known) return found.object;
  return handle != MPI_COMM_NULL ? endpoint_comms().insert(handle, nullptr) : nullptr;
}

EndpointComm* known_endpoint_comm(MPI_Comm handle) { return endpoint_comms().find(handle).object; }

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
  if (EndpointComm* const opened = EndpointComm::make(*native_receives, bits(made), rank, own, std::move(peers))) {
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

}  // namespace urakata::shim
