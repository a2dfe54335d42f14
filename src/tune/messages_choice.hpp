// SPDX-License-Identifier: BSD-3-Clause
// Whether the program's own messages between nodes go by transport `wire`, as collectives' do.
//
// Functions of what all ranks know alike. Each rank says of itself what decides; then all come to the same of each
// rank. Where both ranks of a pair that wire joins have a link, their messages go by it, and else through the MPI
// library.
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
  bool space = false;  // it is to be in one
  bool better =
      false;  // its node has a network that the MPI library drives better than TCP, whatever TRANSPORT says of it
  bool room = true;      // it may have the descriptors of all connections that its link could have
  bool moves = true;     // its link is moved also while the program waits in the MPI library
  bool stripes = false;  // it has transport `stripes`; where there are several sites: to the others
  bool shares_cores =
      false;  // others want its core: its node's ranks, or, so the MPI library was told, other processes
};

struct MessagesChoice {
  bool by_wire = false;  // this rank has a link, and there is a rank that it reaches by it
  bool stripes = false;  // and all that may have a link have stripes
  std::string why;       // one sentence: by what they go, and why
};

// Of rank `own`; facts[rank]. auto: all ranks by wire, where that joins all of them, each has a node and cores of its
// own, none of them is in a space, stripes join those at different sites, and nothing that they have said speaks
// against it; else none of those that said auto.
MessagesChoice choose_messages(std::span<const MessagesFacts> facts, std::int32_t own,
                               const TransportChoice& transports, std::size_t sites);

struct ConnectionsChoice {
  std::uint32_t connections;  // for long messages of a pair at one site; 0: as many as are found to pay
  std::string why;            // it is one, though more were allowed; empty: it is not so
};
// `asked`: option CONNECTIONS. `stripes`: as above. `room`: the limit of descriptors has it for all that may be tried.
ConnectionsChoice choose_connections(std::uint32_t asked, bool stripes, bool room);

// What will decide in a job that is not started yet; one sentence.
std::string messages_rule(MessagesWish asked);

}  // namespace urakata::tune
