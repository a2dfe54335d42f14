// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/circle.hpp"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "shim/communicators/communicator.hpp"
#include "shim/messages/message_host.hpp"
#include "shim/native/host.hpp"
#include "shim/process/process.hpp"
#include "shim/process/space.hpp"
#include "shim/requests/request.hpp"
#include "shim/requests/wait_until.hpp"

namespace urakata::shim {

namespace {

Circles& circles() {
  static auto* map = new Circles;
  return *map;
}

// Those whose communicators the program has freed while requests were open.
struct ClosedCircles {
  std::mutex lock;
  std::vector<const Circle*> all;
};
ClosedCircles& closed_circles() {
  static auto* made = new ClosedCircles;
  return *made;
}

bool is_pending(const Request& request) { return !request.finished(); }
// Is it a receive that the host may be asked for now, or at a later start?
bool may_need_host(const Request& request) {
  const bool by_endpoint = messages::by_endpoint(request.message.descriptor.carrier);
  return request.is_message() && !by_endpoint && (request.persistent || request.message.mixed != nullptr);
}

// Looks at all requests that exist, so not for calls that must be fast. Those of other circles may be in use by other
// threads, so nothing but their circle is read.
template <class Is>
bool any_request(const Circle& circle, Is is) {
  const std::uint32_t made = request_table.made.load(std::memory_order_acquire);
  return std::any_of(request_table.requests, request_table.requests + made,
                     [&](Request& request) { return request.circle() == &circle && is(request); });
}

// A key that is not there leaves the promise as it is.
void note_promise(Circle& open, unsigned promise, MPI_Info info, const char* key) {
  char value[8] = {};
  int found = 0;
  host.Info_get(info, key, sizeof value - 1, value, &found);
  if (found == 0) return;
  if (std::string_view(value) == "true") {
    open.promises.fetch_or(promise, std::memory_order_relaxed);
  } else {
    open.promises.fetch_and(~promise, std::memory_order_relaxed);
  }
}

}  // namespace

Circle* look_up_circle(MPI_Comm handle) {
  const auto found = circles().find(handle);
  if (found.known) return found.object;
  return handle != MPI_COMM_NULL ? circles().insert(handle, nullptr) : nullptr;
}

void open_circle(MPI_Comm made, const job::MemberContexts& contexts) {
  if (endpoint() == nullptr) return;
  const std::vector<int> world = world_ranks(made);
  std::vector<Circle::Peer> peers;
  peers.reserve(world.size());
  for (const int member : world) {
    p2p::Port* const port = port_of(member);
    peers.push_back({port, contexts.circle_of(member), port != nullptr ? p2p::kNoPeer : link_to(member)});
  }
  int rank = 0;
  host.Comm_rank(made, &rank);
  const std::uint32_t own = contexts.circle_of(process().world_rank());
  if (Circle* const opened = Circle::make(message_host(), bits(made), rank, own, std::move(peers))) {
    circles().insert(made, opened);
  }
}

void for_each_circle(const std::function<void(const Circle&)>& visit) {
  circles().for_each([&](const Circle* one) {
    if (one != nullptr) visit(*one);
  });
  const std::lock_guard guard(closed_circles().lock);
  for (const Circle* const one : closed_circles().all) visit(*one);
}

void note_promises(MPI_Comm handle, MPI_Info info) {
  if (endpoint() == nullptr || info == MPI_INFO_NULL) return;
  Circle* open = circle(handle);
  if (open == nullptr) return;
  note_promise(*open, Circle::kNoAnySource, info, "mpi_assert_no_any_source");
  note_promise(*open, Circle::kOvertaking, info, "mpi_assert_allow_overtaking");
}

Circle::Freed before_free(MPI_Comm handle, bool disconnects) {
  const Circle* const open = circles().find(handle).object;
  if (open == nullptr || open->unused()) return {};
  const bool kept = !disconnects && open->mixed && any_request(*open, may_need_host);
  return {kept, kept ? 0 : keep_error_handler(handle)};
}

void withdraw_circle(MPI_Comm handle) { circles().withdraw(handle); }
void restore_circle(MPI_Comm handle) { circles().restore(handle); }

void close_circle(MPI_Comm handle, const Circle::Freed& freed) {
  Circle* const gone = circles().erase(handle);
  if (gone == nullptr) return;
  if (!gone->unused()) {
    const std::lock_guard guard(closed_circles().lock);
    closed_circles().all.push_back(gone);
  }
  gone->close(freed);
}

void forget_closed_circle(const Circle& circle) {
  {
    const std::lock_guard guard(closed_circles().lock);
    std::erase(closed_circles().all, &circle);
  }
  forget_error_handler(circle.freed().handler);
}

void drain_circle(MPI_Comm handle) {
  const Circle* const open = endpoint() != nullptr ? circles().find(handle).object : nullptr;
  if (open == nullptr) return;
  // A message whose request another thread frees is left behind first, so that is asked last.
  wait_until([&] { return (open->unused() || !any_request(*open, is_pending)) && open->none_left_behind(); });
}

}  // namespace urakata::shim
