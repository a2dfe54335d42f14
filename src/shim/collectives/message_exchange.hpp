// SPDX-License-Identifier: BSD-3-Clause
// A neighbourhood collective by messages of the rank's space, one for each neighbour: of a communicator all of whose
// ranks are in it. (Persistent ones have neighbourhood channels. A schedule's messages inside a node are the MPI
// library's, so there is nothing to win by one here: bench/halo has both.)
//
// Its messages have a context of their own. All ranks start such collectives of a communicator in the same order, and
// messages between two ranks do not overtake, so the k-th message from one to the other meets the k-th receive. A rank
// that cannot start one has its place in that order, too: it sends its neighbours a word that it has failed, which is
// an error of theirs, and drops what they send.
//
// Nobody moves them but the ranks themselves in calls of the program, as the program's own messages.
//
// Thread-safety: as MPI says of the calls that they stand for.
#pragma once

#include <string_view>
#include <vector>

#include "shim/collectives/call.hpp"
#include "shim/collectives/call_reading.hpp"
#include "shim/messages/message_arguments.hpp"
#include "shim/requests/neighbour_exchange.hpp"

namespace urakata::shim {

class MessageExchange final : public NeighbourExchange {
 public:
  static constexpr std::string_view kAlgorithm = "messages";

  // Retains the endpoint communicator. The layouts must outlive it.
  MessageExchange(EndpointComm& endpoint_comm, const Reading& reading);
  ~MessageExchange() override;

  void begin() override;  // once
  bool done() const override;
  void wait() override;
  int error() const override;
  EndpointComm* endpoint_comm() const override { return &endpoint_comm_; }

 private:
  void leave(std::unique_ptr<NeighbourExchange> own, std::vector<const Datatype*> types) override;

  struct Message {
    MessageDescriptor what;
    p2p::Request* open = nullptr;  // from begin() on; nullptr: it is over
  };

  EndpointComm& endpoint_comm_;
  std::vector<Message> messages_;  // receives in the order of their meeting, then sends
};

// Might the call be one? Costs next to nothing where it is not.
bool may_be_message_exchange(const Call& call);

// True: the call, which may be one and is not persistent, is performed so, and `code` is its result; the error handler
// has been called. A blocking one is over then, of another `request_out` is the request. False: nothing was done. The
// decision rests on the facts of handled() (start.hpp).
bool exchanged(const Call& call, MPI_Request* request_out, int* code);

}  // namespace urakata::shim
