#include "shim/conduits.hpp"

#include <netinet/in.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/log.hpp"
#include "base/options.hpp"
#include "chain/listener.hpp"
#include "chain/submitter.hpp"
#include "shim/communicator.hpp"
#include "shim/host.hpp"
#include "shim/host_bootstrap.hpp"
#include "shim/process.hpp"

namespace urakata::shim {

namespace {

// Each rank builds all ranks' schedules of an operation once, to know whether all can be chained; and has a connection
// to every other.
constexpr std::size_t kMostRanks = 64;

// Lives as long as the process, as the engines do.
struct Conduits {
  explicit Conduits(std::unique_ptr<chain::Listener> made) : listener(std::move(made)) {}
  std::unique_ptr<chain::Listener> listener;
  std::vector<std::uint16_t> ports;  // of each rank's listener
  chain::Submitter submitter;
};
constinit Conduits* conduits = nullptr;

engine::KernelEngine* kernel() { return static_cast<engine::KernelEngine*>(process().engines().named("kernel")); }

transport::Secret secret_of(job::Bootstrap& world) {
  transport::Secret secret;
  if (world.rank() == 0 && getrandom(&secret, sizeof secret, 0) != sizeof secret) secret = {};
  if (!world.broadcast(std::as_writable_bytes(std::span(&secret, 1)), 0)) secret = {};
  return secret;
}

transport::ListenAddress listener_of(std::int32_t rank) {
  transport::ListenAddress address = process().wire()->address_of(rank);
  // Both kinds of address have the port at the same place.
  const std::uint16_t port = conduits->ports[static_cast<std::size_t>(rank)];
  reinterpret_cast<sockaddr_in&>(address.address).sin_port = htons(port);
  return address;
}

}  // namespace

void ConduitClosed::operator()(chain::Conduit* conduit) const {
  if (engine::KernelEngine* const engine = kernel()) engine->conduits().remove(*conduit);
  delete conduit;
}

std::string set_up_conduits(job::Bootstrap& world, std::string obstacle) {
  const transport::Secret secret = secret_of(world);
  if (obstacle.empty() && secret == transport::Secret{}) obstacle = "there are no random numbers for a secret";
  std::unique_ptr<chain::Listener> listener;
  if (obstacle.empty()) {
    auto opened = chain::Listener::open(static_cast<std::int32_t>(world.rank()), secret, options().peer_timeout_ns());
    if (opened.ok()) {
      listener = std::move(*opened);
    } else {
      obstacle = opened.error().message;
    }
  }
  // What a rank says of itself: the port of its listener, or why it has none, cut to the room for it.
  struct ListenerRecord {
    std::uint16_t port = 0;
    std::array<char, 510> why{};
  };
  ListenerRecord own;
  if (listener) own.port = listener->port();
  std::memcpy(own.why.data(), obstacle.data(), std::min(obstacle.size(), own.why.size() - 1));
  const std::vector<ListenerRecord> all = world.gathered(own);
  if (all.empty()) return "the host refuses the meeting of the ranks";
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].port == 0) return "rank " + std::to_string(rank) + ": " + all[rank].why.data();
  }
  conduits = new Conduits(std::move(listener));
  for (const ListenerRecord& record : all) conduits->ports.push_back(record.port);
  return "";
}

ConduitHolder open_conduit(MPI_Comm comm, const job::MemberContexts& contexts) {
  if (conduits == nullptr || kernel() == nullptr || !contexts.has_context()) return nullptr;
  const std::vector<std::int32_t> ranks = world_ranks(comm);
  const job::Job& job = process().job();
  if (ranks.size() < 2 || ranks.size() > kMostRanks || !job.nodes_apart(ranks) || !job.alike(ranks) ||
      !process().transports().covers(ranks)) {
    return nullptr;
  }
  HostBootstrap members(comm);
  std::vector<chain::Listener::Member> with;
  with.reserve(ranks.size());
  for (const std::int32_t rank : ranks) with.push_back({rank, contexts.context_of(rank), listener_of(rank)});
  std::string why;
  ConduitHolder made;
  auto peers = conduits->listener->connect(with, members.rank());
  if (peers.ok()) {
    auto opened = chain::Conduit::open(std::move(*peers), contexts.context_of(process().world_rank()) + kKernelContexts,
                                       conduits->submitter, options().peer_timeout_ns());
    if (opened.ok()) {
      made.reset(opened->release());
      kernel()->conduits().add(*made);
    } else {
      why = opened.error().message;
    }
  } else {
    why = peers.error().message;
  }
  if (!made)
    log::warning("engine thread instead of kernel for a communicator of %zu ranks: %s", ranks.size(), why.c_str());
  const auto all = members.gathered(static_cast<std::uint8_t>(made != nullptr));
  if (all.empty() || std::ranges::find(all, 0) != all.end()) made.reset();
  return made;
}

void stop_conduits() {
  if (conduits != nullptr) conduits->submitter.stop();
}

}  // namespace urakata::shim
