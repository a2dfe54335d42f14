// What a request of a neighbourhood collective stands for where that is no schedule: an exchange plan
// (planned_exchange.hpp), or messages of the rank's space (message_exchange.hpp).
//
// Thread-safety: by any thread; an exchange belongs to one at a time.
#pragma once

#include <memory>
#include <vector>

#include "shim/communicators/circle.hpp"
#include "shim/types/datatype.hpp"

namespace urakata::shim {

class NeighbourExchange {
 public:
  NeighbourExchange() = default;
  NeighbourExchange(const NeighbourExchange&) = delete;
  NeighbourExchange& operator=(const NeighbourExchange&) = delete;
  virtual ~NeighbourExchange() = default;

  // Starts it; a persistent one's again and again, each when the one before is done.
  virtual void begin() = 0;
  // Is it over? The program may use its buffers then.
  virtual bool done() const = 0;
  // Returns when it is, having moved everything else as well.
  virtual void wait() = 0;
  // Of one that is done: MPI_SUCCESS, or the code of an error that nobody has been told yet.
  virtual int error() const = 0;
  // Where its messages are the endpoint's: their circle.
  virtual Circle* circle() const { return nullptr; }

  // The program needs it no more: it ends without the program if it must, and releases what it retains. `types`:
  // retained, of its layouts; released when nobody needs them.
  static void abandon(std::unique_ptr<NeighbourExchange> exchange, std::vector<const Datatype*> types) {
    NeighbourExchange& left = *exchange;
    left.leave(std::move(exchange), std::move(types));
  }

 private:
  // The same; `own` is this one.
  virtual void leave(std::unique_ptr<NeighbourExchange> own, std::vector<const Datatype*> types) = 0;
};

}  // namespace urakata::shim
