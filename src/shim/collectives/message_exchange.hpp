// SPDX-License-Identifier: BSD-3-Clause
// A neighbourhood collective by messages of the endpoint, one to each neighbour, on a communicator whose ranks are all
// in one space. (Persistent ones have neighbourhood channels. A schedule would gain nothing here: its messages inside a
// node are the MPI library's. bench/halo has both.)
//
// The messages have a context of their own. All ranks start such collectives of a communicator in the same order, and
// messages between two ranks do not overtake, so the k-th message from one to the other meets the k-th receive. A rank
// that cannot start a collective takes its place in that order, too. It sends each neighbour a message that it has
// failed, so that the collective fails there, and drops what the neighbours send.
//
// The messages progress as the program's own messages do.
//
// Thread-safety: as MPI says of the calls that these stand for.
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

// Whether exchanged() may perform the call. Cheap.
bool may_be_message_exchange(const Call& call);

// For a call that is not persistent and of which may_be_message_exchange() is true. True: `*code` is the result, and
// the error handler has been called. A blocking call is then over; a non-blocking one that succeeded has its request
// in `*request_out`. False: nothing was done. The decision rests on the facts of handled() (start.hpp).
bool exchanged(const Call& call, MPI_Request* request_out, int* code);

}  // namespace urakata::shim
