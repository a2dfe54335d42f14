// A channel: a communicator whose ranks all live in one space, so that the program's own messages on it travel there.
//
// Each rank numbers its channels itself; a message carries the number that its receiver has chosen. The numbers are
// told when the communicator is made: the calls that make one are collective and may wait, so one MPI_Allgather on the
// new communicator does it. Communicators that come about otherwise (MPI_Comm_idup, sessions) stay with the host, as do
// those with a rank outside the space. All ranks decide alike, since all know who shares a space.
//
// Thread-safety: channel() by any thread; a Channel is constant but for its count of users.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "p2p/endpoint.hpp"
#include "shim/abi.hpp"

namespace urakata::shim {

class Channel {
 public:
  struct Peer {
    p2p::Port* port = nullptr;
    std::uint32_t context = 0;  // the peer's number for this channel
  };

  Channel(MPI_Comm comm, std::int32_t own_rank, std::uint32_t own_context, std::vector<Peer> all)
      : handle(comm), rank(own_rank), context(own_context), peers(std::move(all)) {}

  const MPI_Comm handle;
  const std::int32_t rank;
  const std::uint32_t context;  // own number
  const std::vector<Peer> peers;

  void hold() { users_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  bool idle() const { return users_.load(std::memory_order_acquire) == 1; }

 private:
  ~Channel() = default;
  std::atomic<std::uint32_t> users_{1};  // the handle's own, until it is freed
};

// The channel of a communicator; nullptr where its messages are the host's.
Channel* channel(MPI_Comm handle);

// A communicator has been made, by a call that all its ranks are in. Collective.
void open_channel(MPI_Comm made);
// The same for MPI_COMM_WORLD, whose number is 1 on every rank. `ports`: of all ranks.
void open_world(std::vector<p2p::Port*> ports);

// The communicator is about to be freed.
void close_channel(MPI_Comm handle);
// Waits until no operation on it is pending, for MPI_Comm_disconnect.
void drain_channel(MPI_Comm handle);

}  // namespace urakata::shim
