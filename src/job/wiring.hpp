// SPDX-License-Identifier: BSD-3-Clause
// In MPI_Init all ranks find out together which nodes reach each other over our TCP transport, `wire`
// (base/network.hpp). So both sides of a pair know this before their first message. The caller then decides which pairs
// use the transport.
//
// Each rank that can and may opens a listening socket. Then one rank of each node probes one rank of each other node,
// in both directions, if there are at most kAllPairs nodes. Of more nodes each probes only those 1, 2, 4, 8 ... places
// further on. These probes are a sample: their number for a node grows with the logarithm of all nodes. If one fails,
// no pair of nodes uses the transport.
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

// An IP address of a node.
struct Address {
  std::uint32_t family = 0;
  std::array<std::byte, 16> bytes{};
};

// What a rank says of itself.
struct WireFacts {
  enum class Obstacle : std::uint8_t { none, asked, descriptors, system, no_interface, no_address };
  Obstacle obstacle = Obstacle::none;
  bool fast = false;                              // its node has a network that is to be preferred
  std::vector<Address> addresses;                 // of its node, the best first
  std::vector<InterfaceAddress> listens_at = {};  // empty: all addresses of its node
};
// As the limits of this process and the network interfaces say. nodes[rank]: see Job::nodes(). `wanted`: it may talk by
// wire. `fast`: its node has a network that is to be preferred (job/better_network.hpp).
WireFacts own_wire_facts(std::span<const std::int32_t> nodes, std::int32_t rank, bool wanted, bool fast);
// Does the limit allow the connections of this rank's link (transport/link/wire_link.hpp), besides those of the wire?
// `more`: to each rank of another node.
bool room_for_link(std::span<const std::int32_t> nodes, std::int32_t rank, std::size_t more = 0);

class Wiring {
 public:
  // Given what was found: which ranks does this one talk to by wire? Empty, on all ranks alike: no rank of the job
  // talks to any.
  using Decide = std::function<std::vector<bool>(const Network& found)>;
  static constexpr std::size_t kAllPairs = 64;  // nodes

  // Collective.
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
