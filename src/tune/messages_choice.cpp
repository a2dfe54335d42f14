// SPDX-License-Identifier: BSD-3-Clause
#include "tune/messages_choice.hpp"

#include <algorithm>
#include <vector>

namespace urakata::tune {

namespace {

using Facts = std::span<const MessagesFacts>;

// "rank 3": the first rank whose facts satisfy `is`; empty: none does.
template <class Is>
std::string first_rank(Facts facts, Is is) {
  const auto found = std::ranges::find_if(facts, is);
  return found == facts.end() ? "" : "rank " + std::to_string(found - facts.begin());
}

// Whether two nodes of a site both have a better network and would use wire all the same. All nodes are joined by wire.
bool better_network(Facts facts, const TransportChoice& transports) {
  std::vector<std::int32_t> seen;  // for each site, the first rank whose node has a better network
  for (std::size_t at = 0; at < facts.size(); ++at) {
    if (!facts[at].better) continue;
    const auto rank = static_cast<std::int32_t>(at);
    const auto first = std::ranges::find_if(seen, [&](std::int32_t one) { return transports.at_one_site(one, rank); });
    if (first == seen.end()) {
      seen.push_back(rank);
    } else if (transports.by_wire(*first, rank)) {
      return true;
    }
  }
  return false;
}

// Whether all ranks that may have a link have stripes, too.
bool all_have_lanes(Facts facts, const TransportChoice& transports) {
  for (std::size_t rank = 0; rank < facts.size(); ++rank) {
    if (facts[rank].asked == MessagesWish::native || facts[rank].stripes) continue;
    const std::vector<bool> peers = transports.peers(static_cast<std::int32_t>(rank));
    if (std::ranges::find(peers, true) != peers.end()) return false;
  }
  return true;
}

// Why ranks that asked for auto leave their messages to the MPI library; empty: they do not.
std::string why_not(Facts facts, const TransportChoice& transports, std::size_t sites) {
  if (!transports.any()) return ": " + transports.why();
  if (const auto rank = first_rank(facts, [](const auto& of) { return of.asked == MessagesWish::native; });
      !rank.empty())
    return ", as option WIRE_MESSAGES of " + rank + " says";
  if (!transports.lacking().empty()) return ", since not all ranks have wire: " + transports.lacking();
  if (!transports.all()) return ", since wire does not join all nodes: " + transports.why();
  if (better_network(facts, transports))
    return ", which drives the nodes' network better than TCP (--wire-messages asks for wire)";
  if (const auto rank = first_rank(facts, [](const auto& of) { return !of.stripes; }); sites > 1 && !rank.empty()) {
    return ", since the nodes are at " + std::to_string(sites) + " sites, and " + rank +
           " has no connections of its own between them (--wire-messages asks for wire)";
  }
  if (const auto rank = first_rank(facts, &MessagesFacts::space); !rank.empty()) {
    return ", since " + rank +
           " is to be in a space, inside which each message takes a lock where a progress thread moves others "
           "(--wire-messages asks for wire)";
  }
  // Measured (two test hosts, two ranks each, 8 B between ranks of a host): 2.9 us instead of 2.7, and 3.5 instead of
  // 2.7 for receives from any source.
  if (transports.ranks_share_nodes()) {
    return ", since ranks share nodes, and their messages to each other would take longer (--wire-messages asks for "
           "wire)";
  }
  // Polling two sets of connections, the MPI library's and ours, takes time from others that share the core. Measured
  // (three test hosts on two cores, bench/suite): 1.24 of the MPI library's time by wire, 1.08 if the MPI library
  // carries the messages.
  if (const auto rank = first_rank(facts, &MessagesFacts::shares_cores); !rank.empty())
    return ", since " + rank + " shares its cores with others (--wire-messages asks for wire)";
  if (const auto rank = first_rank(facts, [](const auto& of) { return !of.room; }); !rank.empty())
    return ", since the limit of descriptors of " + rank + " is too low (ulimit -n)";
  if (const auto rank = first_rank(facts, [](const auto& of) { return !of.moves; }); !rank.empty())
    return ", since the MPI library of " + rank + " lets nothing else move while the program waits in it";
  return "";
}

}  // namespace

MessagesChoice choose_messages(Facts facts, std::int32_t own, const TransportChoice& transports, std::size_t sites) {
  const bool stripes = all_have_lanes(facts, transports);
  const MessagesWish asked = facts[static_cast<std::size_t>(own)].asked;
  if (asked == MessagesWish::native) return {.why = "through the MPI library, as option WIRE_MESSAGES says"};
  const std::string obstacle = why_not(facts, transports, sites);
  if (asked == MessagesWish::automatic && !obstacle.empty()) return {.why = "through the MPI library" + obstacle};
  if (!transports.any()) return {.why = "through the MPI library: " + transports.why()};
  bool wired = false;   // whether this rank reaches a rank by wire
  bool linked = false;  // whether it reaches a rank by wire that has a link
  for (std::size_t rank = 0; rank < facts.size() && !linked; ++rank) {
    if (!transports.by_wire(own, static_cast<std::int32_t>(rank))) continue;
    const MessagesWish there = facts[rank].asked;
    wired = true;
    linked = there == MessagesWish::wire || (there == MessagesWish::automatic && obstacle.empty());
  }
  if (!wired) {
    const std::string& lacking = transports.lacking();
    return {.why = "through the MPI library, since this rank reaches none by wire: " +
                   (lacking.empty() ? transports.why() : lacking)};
  }
  if (!linked)
    return {.why = "through the MPI library, since all ranks that this one reaches leave them to it (WIRE_MESSAGES)"};
  if (asked == MessagesWish::automatic) return {true, stripes, "by wire: " + transports.why()};
  return {true, stripes, "by wire to all ranks that it reaches, as option WIRE_MESSAGES says: " + transports.why()};
}

ConnectionsChoice choose_connections(std::uint32_t asked, bool stripes, bool room) {
  if (asked == 1) return {.connections = 1, .why = ""};
  if (!stripes) return {.connections = 1, .why = "a rank has one connection only"};
  if (asked == 0 && !room) {
    return {.connections = 1,
            .why = "the limit of descriptors (ulimit -n) is too low; CONNECTIONS says how many there are to be"};
  }
  return {.connections = asked, .why = ""};
}

std::string messages_rule(MessagesWish asked) {
  switch (asked) {
    case MessagesWish::native:
      return "through the MPI library, as option WIRE_MESSAGES says";
    case MessagesWish::wire:
      return "by transport wire to all ranks that it reaches, as option WIRE_MESSAGES says";
    case MessagesWish::automatic:
      break;
  }
  return "by transport wire where each rank has a node and cores of its own, without a space, and TCP is the only "
         "network between them; else through the MPI library";
}

}  // namespace urakata::tune
