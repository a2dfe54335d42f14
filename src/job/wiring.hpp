// SPDX-License-Identifier: BSD-3-Clause
// In MPI_Init all ranks find out together which nodes reach each other over our TCP transport, `wire`
// (base/network.hpp). So both sides of a pair know this before their first message. The caller then decides which pairs
// use the transport.
//
// Each rank that can and may opens a listening socket. If there are at most kAllPairs nodes, one rank of each node then
// probes one rank of each other node, so each pair is probed in both directions. If there are more, each node probes
// only those 1, 2, 4, 8 ... places further on: the number of these probes for a node grows with the logarithm of all
// nodes. If one of them fails, no pair of nodes uses the transport.
//
// Thread-safety: set_up() by the thread that calls MPI_Init; constant afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/interfaces.hpp"
#include "base/network.hpp"
#include "job/bootstrap.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::job {

// An IP address of a node, in network byte order; an IPv4 address is in the first 4 bytes.
struct Address {
  std::uint32_t family = 0;  // AF_INET or AF_INET6
  std::array<std::byte, 16> bytes{};
};

// What a rank says of itself.
struct WireFacts {
  enum class Obstacle : std::uint8_t { none, asked, descriptors, system, no_interface, no_address };
  Obstacle obstacle = Obstacle::none;             // why the rank cannot or may not use wire
  bool fast = false;                              // whether its node has a network that is to be preferred
  std::vector<Address> addresses;                 // of its node, the best first
  std::vector<InterfaceAddress> listens_at = {};  // where the rank listens; empty: at all addresses of its node
};
// This rank's facts, from the limits of this process and the node's network interfaces. nodes[rank]: see Job::nodes().
// `wanted`: the rank may use wire. `fast`: its node has a network that is to be preferred (job/better_network.hpp).
WireFacts own_wire_facts(std::span<const std::int32_t> nodes, std::int32_t rank, bool wanted, bool fast);
// Whether the limit of descriptors allows the connections of this rank's link (transport/link/wire_link.hpp) besides
// those of the wire. `more`: further connections to each rank of another node.
bool room_for_link(std::span<const std::int32_t> nodes, std::int32_t rank, std::size_t more = 0);

class Wiring {
 public:
  // From what was found, for each rank whether this one exchanges messages with it by wire. Empty, on all ranks alike:
  // no rank of the job uses wire.
  using Decide = std::function<std::vector<bool>(const Network& found)>;
  static constexpr std::size_t kAllPairs = 64;  // nodes

  // Probes the nodes, calls decide() once, and gives the wire the addresses of this rank's peers. Collective.
  // `failures` must outlive this object. `timeout_ns`: of the wire.
  void set_up(Bootstrap& bootstrap, std::span<const std::int32_t> nodes, const WireFacts& own,
              transport::Failures& failures, std::uint64_t timeout_ns, const Decide& decide);

  transport::Wire* wire() const { return wire_.get(); }  // nullptr: this rank has none

 private:
  struct Contact;
  struct Found;

  Found find(Bootstrap& bootstrap, std::span<const std::int32_t> nodes, const WireFacts& own,
             transport::Failures& failures, std::uint64_t timeout_ns);
  bool probe(Bootstrap& bootstrap, Found& found);
  static void join(Found& found);
  void set_addresses(const Found& found, const std::vector<bool>& by_wire, std::int32_t own_rank);

  std::unique_ptr<transport::Wire> wire_;
};

}  // namespace urakata::job
