// Whether the program's own messages between nodes go by transport `wire`, as collectives' do.
//
// Functions of their arguments, which all ranks know alike but for the option. Where ranks of a pair differ in that, the
// host carries their messages: both need a link.
#pragma once

#include <string>

#include "base/options.hpp"
#include "tune/transport_choice.hpp"

namespace urakata::tune {

struct MessagesChoice {
  bool by_wire = false;
  std::string why;  // one sentence: by what they go, and why
};

// auto: by wire where that joins all ranks of different nodes, and this rank is in no space. `space`: it is to be in one.
MessagesChoice choose_messages(MessagesWish asked, bool space, const TransportChoice& transports);

// What will decide in a job that is not started yet; one sentence.
std::string messages_rule(MessagesWish asked);

}  // namespace urakata::tune
