#include "shim/channel.hpp"

#include <algorithm>
#include <numeric>

#include "shim/handle_map.hpp"
#include "shim/host.hpp"
#include "shim/process.hpp"
#include "shim/space.hpp"

namespace urakata::shim {

namespace {

constexpr std::uint32_t kWorldContext = 1;

HandleMap<MPI_Comm, Channel>& registry() {
  static auto* map = new HandleMap<MPI_Comm, Channel>;
  return *map;
}

// The world ranks of an intracommunicator; empty where one is not in MPI_COMM_WORLD.
std::vector<int> world_ranks(MPI_Comm comm) {
  int size = 0;
  host.Comm_size(comm, &size);
  MPI_Group group = MPI_GROUP_NULL;
  host.Comm_group(comm, &group);
  std::vector<int> own(static_cast<std::size_t>(size));
  std::iota(own.begin(), own.end(), 0);
  std::vector<int> world(own.size());
  host.Group_translate_ranks(group, size, own.data(), process().world_group(), world.data());
  host.Group_free(&group);
  if (std::find(world.begin(), world.end(), MPI_UNDEFINED) != world.end()) world.clear();
  return world;
}

}  // namespace

Channel* channel(MPI_Comm handle) {
  const auto found = registry().find(handle);
  if (!found.known && handle != MPI_COMM_NULL) registry().insert(handle, nullptr);
  return found.object;
}

void open_channel(MPI_Comm made) {
  if (made == MPI_COMM_NULL || endpoint() == nullptr) return;
  int inter = 0;
  if (host.Comm_test_inter(made, &inter) != MPI_SUCCESS || inter != 0) return;
  const std::vector<int> world = world_ranks(made);
  if (world.size() < 2) return;
  std::vector<Channel::Peer> peers(world.size());
  for (std::size_t i = 0; i < world.size(); ++i) {
    peers[i].port = port_of(world[i]);
    if (peers[i].port == nullptr) return;
  }
  static std::atomic<std::uint32_t> next{kWorldContext + 1};
  const std::uint32_t own = next.fetch_add(1, std::memory_order_relaxed);
  std::vector<std::uint32_t> all(world.size());
  if (host.Allgather(&own, 1, MPI_UINT32_T, all.data(), 1, MPI_UINT32_T, made) != MPI_SUCCESS) return;
  for (std::size_t i = 0; i < world.size(); ++i) peers[i].context = all[i];
  int rank = 0;
  host.Comm_rank(made, &rank);
  registry().insert(made, new Channel(made, rank, own, std::move(peers)));
}

void open_world(std::vector<p2p::Port*> ports) {
  if (ports.size() < 2 || std::find(ports.begin(), ports.end(), nullptr) != ports.end()) return;
  std::vector<Channel::Peer> peers(ports.size());
  for (std::size_t i = 0; i < ports.size(); ++i) peers[i] = {ports[i], kWorldContext};
  int rank = 0;
  host.Comm_rank(MPI_COMM_WORLD, &rank);
  registry().insert(MPI_COMM_WORLD, new Channel(MPI_COMM_WORLD, rank, kWorldContext, std::move(peers)));
}

void close_channel(MPI_Comm handle) {
  if (Channel* gone = registry().erase(handle)) gone->release();
}

void drain_channel(MPI_Comm handle) {
  const Channel* open = endpoint() != nullptr ? registry().find(handle).object : nullptr;
  if (open == nullptr) return;
  p2p::Patience patience(endpoint()->port(), endpoint()->manners());
  while (!open->idle()) {
    if (!endpoint()->progress()) patience.step([] { return false; });
  }
}

}  // namespace urakata::shim
