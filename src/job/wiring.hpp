// Which pairs of ranks talk by transport `wire`: settled by all ranks together in MPI_Init, so that both sides of a
// pair know before its first message.
//
// Each rank that can and may opens a listening socket. Then one rank of each node probes those of the other nodes: in
// all directions where there are up to kAllPairs nodes. Of more nodes each tries those that are 1, 2, 4, 8 ... further
// on, and these stand for all: the time in MPI_Init grows with the logarithm of their number, and if one cannot be
// reached the host carries everything. Two ranks of different nodes talk by wire if both have one, their nodes reach
// each other in both directions, and they do not share a network that the host drives better than TCP.
//
// Thread-safety: set_up() by the thread that calls MPI_Init; constant afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "job/bootstrap.hpp"
#include "transport/wire.hpp"

namespace urakata::job {

// An IP address of a node.
struct Address {
  std::uint32_t family = 0;
  std::array<std::byte, 16> bytes{};
};

// What a rank says of itself.
struct WireFacts {
  enum class Obstacle : std::uint8_t { none, asked, descriptors, system };
  Obstacle obstacle = Obstacle::none;
  bool fast = false;               // its node has a network that is to be preferred
  std::vector<Address> addresses;  // of its node, the best first
};
// As the options in force, the limits of this process and the network interfaces say. nodes[rank]: see Job::nodes().
WireFacts own_wire_facts(std::span<const std::int32_t> nodes, std::int32_t rank);

class Wiring {
 public:
  using Ranks = std::span<const std::int32_t>;
  static constexpr std::size_t kAllPairs = 64;  // nodes

  // Collective.
  void set_up(Bootstrap& bootstrap, std::span<const std::int32_t> nodes, const WireFacts& own,
              transport::Failures& failures, std::uint64_t timeout_ns);

  transport::Wire* wire() const { return wire_.get(); }  // nullptr: this rank has none
  // One sentence, the same on every rank: who talks by wire, or why nobody does.
  const std::string& why() const { return why_; }
  bool any() const { return pairs_ != 0; }
  bool all() const { return all_; }                          // all pairs of ranks on different nodes do
  bool by_wire(std::int32_t one, std::int32_t other) const;  // ranks; the same on both
  // Do all messages between these ranks that leave a node go by wire? The same on every rank.
  bool covers(Ranks ranks) const;

 private:
  struct Contact;

  std::int32_t node_of(std::int32_t rank) const { return node_[static_cast<std::size_t>(rank)]; }
  void nobody(std::string why);
  void join(std::span<const Contact> contacts, std::span<const std::uint8_t> chosen);
  void set_addresses(std::span<const Contact> contacts, std::span<const std::uint8_t> chosen, std::int32_t own_rank);

  std::unique_ptr<transport::Wire> wire_;
  std::string why_;
  std::vector<std::int32_t> node_;   // of each rank, counted from 0
  std::vector<std::int32_t> first_;  // of each node: the first rank with a wire; -1: none has
  std::vector<std::size_t> steps_;   // how far from each node those are that it tries
  std::vector<bool> usable_;         // ranks
  std::vector<bool> fast_;           // ranks
  std::vector<bool> joined_;         // pairs of nodes
  std::size_t pairs_ = 0;            // of nodes whose ranks talk by wire, those that have one
  bool all_ = false;
};

}  // namespace urakata::job
