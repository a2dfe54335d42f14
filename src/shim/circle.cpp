#include "shim/circle.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "shim/communicator.hpp"
#include "shim/host.hpp"
#include "shim/message_host.hpp"
#include "shim/process.hpp"
#include "shim/space.hpp"
#include "shim/wait_until.hpp"

namespace urakata::shim {

namespace {

Circles& circles() {
  static auto* map = new Circles;
  return *map;
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
}

void note_promises(MPI_Comm handle, MPI_Info info) {
  if (endpoint() == nullptr || info == MPI_INFO_NULL) return;
  Circle* open = circle(handle);
  if (open == nullptr) return;
  note_promise(*open, Circle::kNoAnySource, info, "mpi_assert_no_any_source");
  note_promise(*open, Circle::kOvertaking, info, "mpi_assert_allow_overtaking");
}

bool close_circle(MPI_Comm handle) {
  Circle* gone = circles().erase(handle);
  return gone != nullptr && gone->close();
}

void drain_circle(MPI_Comm handle) {
  const Circle* open = endpoint() != nullptr ? circles().find(handle).object : nullptr;
  if (open == nullptr) return;
  wait_until([&] { return open->idle(); });
}

}  // namespace urakata::shim
