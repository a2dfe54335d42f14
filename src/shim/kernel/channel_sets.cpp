// SPDX-License-Identifier: BSD-3-Clause
#include "shim/kernel/channel_sets.hpp"

#include <netinet/in.h>
#include <sys/random.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interfaces.hpp"
#include "base/log.hpp"
#include "base/options/options.hpp"
#include "chain/listener.hpp"
#include "chain/submitter.hpp"
#include "engine/kernel.hpp"
#include "shim/kernel/ebpf_offload.hpp"
#include "shim/native/native_bootstrap.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/world_ranks.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/process/obstacle.hpp"
#include "shim/process/said_once.hpp"
#include "tune/engine_choice.hpp"

namespace urakata::shim {

namespace {

// Lives as long as the process, as the engines do.
struct ChannelSets {
  explicit ChannelSets(std::unique_ptr<chain::Listener> made) : listener(std::move(made)) {}
  std::unique_ptr<chain::Listener> listener;
  std::vector<std::uint16_t> ports;  // of each rank's listener
  chain::Submitter submitter;
};
constinit ChannelSets* channel_sets = nullptr;

engine::KernelEngine* kernel() { return static_cast<engine::KernelEngine*>(job_setup().engines().named("kernel")); }

transport::Secret secret_of(job::Bootstrap& world) {
  transport::Secret secret;
  if (world.rank() == 0 && getrandom(&secret, sizeof secret, 0) != sizeof secret) secret = {};
  if (!world.broadcast(std::as_writable_bytes(std::span(&secret, 1)), 0)) secret = {};
  return secret;
}

transport::ListenAddress listener_of(std::int32_t rank) {
  transport::ListenAddress address = job_setup().wire()->address_of(rank);
  // Both kinds of address have the port at the same place.
  const std::uint16_t port = channel_sets->ports[static_cast<std::size_t>(rank)];
  reinterpret_cast<sockaddr_in&>(address.address).sin_port = htons(port);
  return address;
}

void tell_of_no_channel_set(const job::Bootstrap& members, const std::string& why) {
  if (!first_to_find("no channel set: " + why) || members.rank() != 0) return;
  log::warning("not engine kernel for a communicator of %zu ranks, and others like it: %s", members.ranks(),
               why.c_str());
}

// This rank's side of a channel set; nullptr: `why` says why there is none.
KernelPartHolder own_channel_set(const std::vector<std::int32_t>& ranks, std::size_t own,
                                 const job::MemberContexts& contexts, std::string& why) {
  std::vector<chain::Listener::Member> with;
  with.reserve(ranks.size());
  for (const std::int32_t rank : ranks) with.push_back({rank, contexts.context_of(rank), listener_of(rank)});
  auto peers = channel_sets->listener->connect(with, own);
  if (!peers.ok()) {
    why = peers.error().message;
    return nullptr;
  }
  auto opened = chain::ChannelSet::open(std::move(*peers), contexts.context_of(ranks[own]) + kKernelContexts,
                                        channel_sets->submitter, options().peer_timeout_ns());
  if (!opened.ok()) {
    why = opened.error().message;
    return nullptr;
  }
  return KernelPartHolder(new engine::KernelPart{std::move(*opened), nullptr});
}

// Whether all ranks have a channel set. Collective. `why`: why this rank has none; empty: it has one. A warning names
// the first rank without one.
bool all_have_one(job::Bootstrap& members, const std::string& why) {
  const std::vector<Obstacle> all = members.gathered(Obstacle(why));
  if (all.empty()) return false;  // the MPI library refuses their meeting
  const auto without = std::ranges::find_if(all, [](const Obstacle& one) { return one.any(); });
  if (without == all.end()) return true;
  tell_of_no_channel_set(members, "its rank " + std::to_string(without - all.begin()) + ": " + without->text());
  return false;
}

}  // namespace

void KernelPartClosed::operator()(engine::KernelPart* part) const {
  std::unique_ptr<engine::KernelPart> ended(part);
  if (engine::KernelEngine* const engine = kernel()) {
    engine->executors().end(std::move(ended), FreeingCommunicator::now() ? engine::ExecutorTransport::kFarewell : 0);
  }
}

std::string set_up_channel_sets(job::Bootstrap& world, std::string obstacle) {
  const transport::Secret secret = secret_of(world);
  if (obstacle.empty() && secret == transport::Secret{}) obstacle = "there are no random numbers for a secret";
  std::unique_ptr<chain::Listener> listener;
  if (obstacle.empty()) {
    const std::string_view chosen = options().wire_interface;
    auto opened = chain::Listener::open(static_cast<std::int32_t>(world.rank()), secret, options().peer_timeout_ns(),
                                        chosen.empty() ? std::vector<InterfaceAddress>{} : interface_addresses(chosen));
    if (opened.ok()) {
      listener = std::move(*opened);
    } else {
      obstacle = opened.error().message;
    }
  }
  // What a rank says of itself: the port of its listener, or why it has none.
  struct ListenerRecord {
    std::uint16_t port = 0;
    Obstacle obstacle;
  };
  const std::vector<ListenerRecord> all =
      world.gathered(ListenerRecord{listener ? listener->port() : std::uint16_t{0}, Obstacle(obstacle)});
  if (all.empty()) return "the MPI library refuses the meeting of the ranks";
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].port == 0) return "rank " + std::to_string(rank) + ": " + all[rank].obstacle.text();
  }
  channel_sets = new ChannelSets(std::move(listener));
  for (const ListenerRecord& record : all) channel_sets->ports.push_back(record.port);
  return "";
}

KernelPartHolder open_channel_set(MPI_Comm comm, const job::MemberContexts& contexts) {
  if (channel_sets == nullptr || kernel() == nullptr || !contexts.has_context()) return nullptr;
  const std::vector<std::int32_t> ranks = world_ranks(comm);
  const job::Job& job = job_setup().job();
  if (ranks.size() < 2 || !job.alike(ranks)) return nullptr;
  NativeBootstrap members(comm);
  std::string why =
      tune::channel_set_obstacle(ranks.size(), job.nodes_apart(ranks), job_setup().transports().covers(ranks));
  if (!why.empty()) {
    tell_of_no_channel_set(members, why);
    return nullptr;
  }
  KernelPartHolder made = own_channel_set(ranks, members.rank(), contexts, why);
  if (!all_have_one(members, why)) return nullptr;
  made->offload = open_offload(members, ranks);
  kernel()->executors().add(*made);
  return made;
}

bool has_offload(const engine::KernelPart& part) { return part.offload != nullptr; }

void leave_channel_sets() {
  if (engine::KernelEngine* const engine = kernel()) engine->executors().leave();
}

void stop_channel_sets() {
  if (channel_sets != nullptr) channel_sets->submitter.stop();
}

}  // namespace urakata::shim
