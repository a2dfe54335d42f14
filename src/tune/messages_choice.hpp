// SPDX-License-Identifier: BSD-3-Clause
// Whether the program's own messages between nodes go by transport `wire`, as those of collectives do.
//
// Each rank tells all others the facts that decide, so all ranks come to the same result for each rank. If wire joins
// two ranks and both have a link, their messages go by the link; otherwise through the MPI library. Thread-safety: any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/options/options.hpp"
#include "tune/transport_choice.hpp"

namespace urakata::tune {

// What a rank says of itself.
struct MessagesFacts {
  MessagesWish asked = MessagesWish::native;
  bool space = false;  // whether it is to be in a space
  bool better =
      false;  // whether its node has a network that the MPI library drives better than TCP, whatever TRANSPORT says
  bool room = true;      // whether the limit of descriptors allows all connections that its link could have
  bool moves = true;     // whether its link progresses also while the program waits in the MPI library
  bool stripes = false;  // whether it has transport `stripes`; if there are several sites: to the other sites
  bool shares_cores =
      false;  // whether other ranks of its node, or, as the MPI library was told, other processes want its core
};

struct MessagesChoice {
  bool by_wire = false;  // whether this rank has a link, and another rank to reach by it
  bool stripes = false;  // whether, besides, all ranks that may have a link have stripes
  std::string why;       // one sentence: which way the messages go, and why
};

// The choice for rank `own`; facts[rank]. A rank that asked for auto uses wire if wire joins all nodes, each rank has a
// node and cores of its own, none is in a space, stripes join those at different sites, and no other fact speaks
// against it. Otherwise no rank that asked for auto uses wire.
MessagesChoice choose_messages(std::span<const MessagesFacts> facts, std::int32_t own,
                               const TransportChoice& transports, std::size_t sites);

struct ConnectionsChoice {
  std::uint32_t connections;  // for long messages of a pair at one site; 0: as many as are found to pay
  std::string why;            // why there is only one although more were allowed; empty: that is not so
};
// `asked`: option CONNECTIONS. `stripes`: MessagesChoice::stripes. `room`: the limit of descriptors allows all
// connections that may be tried.
ConnectionsChoice choose_connections(std::uint32_t asked, bool stripes, bool room);

// The rule that will decide in a job that is not started yet; one sentence.
std::string messages_rule(MessagesWish asked);

}  // namespace urakata::tune
