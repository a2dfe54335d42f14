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

// Why a rank has no channel, told once: it is the same for all communicators. Nothing where no byte code is attached at all.
void tell_of_no_channel(std::size_t rank, const char* why) {
  static bool told = false;
  if (!told) log::information("engine kernel: small collectives not by byte code: rank %zu: %s", rank, why);
  told = true;
}

void tell_of_other_ops() {
  static bool told = false;
  if (!told) {
    log::information(
        "engine kernel: operations of programs' own not by byte code: not the same ones are attached on all nodes "
        "(urakata kernel list)");
  }
  told = true;
}

// Collective over the communicator of these ranks. nullptr, on all ranks alike: small collectives are not for byte code.
std::unique_ptr<xdp::Channel> open_channel(job::Bootstrap& members, const std::vector<std::int32_t>& world) {
  const std::size_t ranks = world.size();
  if (ranks > URA_XDP_RANKS) return nullptr;
  struct ChannelRecord {
    xdp::Side side;
    std::uint64_t token = 0;  // the first rank's counts
    std::array<char, 200> why{};
  };
  ChannelRecord own;
  std::string why;
  std::unique_ptr<xdp::Channel> made;
  const transport::ListenAddress address = process().wire()->address_of(world[members.rank() == 0 ? 1 : 0]);
  if (address.address.ss_family != AF_INET) {
    why = "nodes reach each other by IPv6, which byte code does not know";
  } else if (getrandom(&own.token, sizeof own.token, 0) != sizeof own.token || own.token == 0) {
    why = "there are no random numbers for a secret";
  } else {
    auto opened =
        xdp::Channel::open(reinterpret_cast<const sockaddr_in&>(address.address), options().peer_timeout_ns());
    if (opened.ok()) {
      made = std::move(*opened);
      own.side = made->side();
    } else {
      why = opened.error().message;
    }
  }
  std::memcpy(own.why.data(), why.data(), std::min(why.size(), own.why.size() - 1));
  const std::vector<ChannelRecord> all = members.gathered(own);
  if (all.size() != ranks) return nullptr;
  std::vector<xdp::Side> sides;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (all[rank].why[0] != 0) {
      tell_of_no_channel(rank, all[rank].why.data());
      return nullptr;
    }
    sides.push_back(all[rank].side);
  }
  made->join(std::move(sides), static_cast<std::uint32_t>(members.rank()), all.front().token);
  if (members.gathered(std::uint8_t{1}).size() != ranks) return nullptr;  // nobody sends before all take
  if (const Status heard = made->greet(); !heard.ok()) why = heard.error().message;
  own.why = {};
  std::memcpy(own.why.data(), why.data(), std::min(why.size(), own.why.size() - 1));
  const std::vector<ChannelRecord> after = members.gathered(own);
  for (std::size_t rank = 0; rank < after.size(); ++rank) {
    if (after[rank].why[0] == 0) continue;
    tell_of_no_channel(rank, after[rank].why.data());
    return nullptr;
  }
  if (after.size() != ranks) return nullptr;
  if (!made->same_ops() && members.rank() == 0) tell_of_other_ops();
  return made;
}

}  // namespace

void KernelPartClosed::operator()(engine::KernelPart* part) const {
  if (engine::KernelEngine* const engine = kernel()) engine->carriers().remove(*part);
  delete part;
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

KernelPartHolder open_conduit(MPI_Comm comm, const job::MemberContexts& contexts) {
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
  KernelPartHolder made;
  auto peers = conduits->listener->connect(with, members.rank());
  if (peers.ok()) {
    auto opened = chain::Conduit::open(std::move(*peers), contexts.context_of(process().world_rank()) + kKernelContexts,
                                       conduits->submitter, options().peer_timeout_ns());
    if (opened.ok()) {
      made.reset(new engine::KernelPart{std::move(*opened), nullptr});
      kernel()->carriers().add(*made);
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
  if (made) made->channel = open_channel(members, ranks);
  return made;
}

void stop_conduits() {
  if (conduits != nullptr) conduits->submitter.stop();
}

}  // namespace urakata::shim
