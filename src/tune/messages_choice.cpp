#include "tune/messages_choice.hpp"

namespace urakata::tune {

MessagesChoice choose_messages(MessagesWish asked, bool space, const TransportChoice& transports) {
  if (asked == MessagesWish::host) return {false, "through the host, as option WIRE_MESSAGES says"};
  if (!transports.any()) return {false, "through the host: " + transports.why()};
  if (asked == MessagesWish::wire) {
    return {true, "by wire to all ranks that it reaches, as option WIRE_MESSAGES says: " + transports.why()};
  }
  if (!transports.all()) return {false, "through the host, since wire does not join all nodes: " + transports.why()};
  if (space) {
    return {false,
            "through the host, since inside a space each message takes a lock where a helper moves others "
            "(--wire-messages asks for it)"};
  }
  return {true, "by wire: " + transports.why()};
}

std::string messages_rule(MessagesWish asked) {
  switch (asked) {
    case MessagesWish::host:
      return "through the host, as option WIRE_MESSAGES says";
    case MessagesWish::wire:
      return "by transport wire to all ranks that it reaches, as option WIRE_MESSAGES says";
    case MessagesWish::automatic:
      break;
  }
  return "by transport wire where TCP is the only network between all nodes of a job without a space, else through the "
         "host";
}

}  // namespace urakata::tune
