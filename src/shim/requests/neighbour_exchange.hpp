// SPDX-License-Identifier: BSD-3-Clause
// The work behind a request of a collective that has no schedule: a persistent neighbourhood channel
// (channel_exchange.hpp), messages between neighbours in the rank's space (message_exchange.hpp), or another collective
// in the rank's space (direct_exchange.hpp).
//
// Thread-safety: by any thread; an exchange belongs to one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "shim/communicators/endpoint_comms.hpp"
#include "shim/types/datatype.hpp"

namespace urakata::shim {

class NeighbourExchange {
 public:
  NeighbourExchange() = default;
  NeighbourExchange(const NeighbourExchange&) = delete;
  NeighbourExchange& operator=(const NeighbourExchange&) = delete;
  virtual ~NeighbourExchange() = default;

  // Starts the exchange. A persistent one may be started again when the last exchange is done.
  virtual void begin() = 0;
  // Whether the exchange is over. The program may then use its buffers.
  virtual bool done() const = 0;
  // Returns when the exchange is done. Makes progress of everything else meanwhile.
  virtual void wait() = 0;
  // The result of a finished exchange: MPI_SUCCESS, or the code of an error that has not been reported yet.
  virtual int error() const = 0;
  // A number that all ranks of the communicator have for it, and for no other operation there; 0: there is none. Valid
  // once it is over.
  virtual std::uint64_t number() const { return 0; }
  // The endpoint communicator of the exchange's messages; nullptr: it has none.
  virtual EndpointComm* endpoint_comm() const { return nullptr; }

  // Gives up an exchange that the program has freed. It ends without the program if it is under way, and releases what
  // it retains. `types`: retained datatypes of its layouts, to be released with it.
  static void abandon(std::unique_ptr<NeighbourExchange> exchange, std::vector<const Datatype*> types) {
    NeighbourExchange& left = *exchange;
    left.leave(std::move(exchange), std::move(types));
  }

 private:
  // abandon() of this object; `own` points to it.
  virtual void leave(std::unique_ptr<NeighbourExchange> own, std::vector<const Datatype*> types) = 0;
};

}  // namespace urakata::shim
