// A circle: a communicator with ranks that share this rank's space, so that the program's own messages between them
// travel there. It is mixed if it has other ranks too: messages with those are the host's, on the same communicator.
//
// Each rank numbers its circles itself; a message carries the number that its receiver has chosen (job/contexts.hpp).
// Communicators that are not known (shim/kin.hpp) stay with the host, as do those where no two ranks share a space. All
// ranks decide alike, since all know who shares one.
//
// Thread-safety: circle() by any thread; a Circle is constant but for its count of users and the program's promises.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "job/contexts.hpp"
#include "p2p/endpoint.hpp"
#include "shim/abi.hpp"
#include "shim/handle_map.hpp"

namespace urakata::shim {

class Circle {
 public:
  struct Peer {
    p2p::Port* port = nullptr;  // nullptr: not in this rank's space
    std::uint32_t context = 0;  // the peer's number for this circle
  };

  Circle(MPI_Comm comm, std::int32_t own_rank, std::uint32_t own_context, std::vector<Peer> all);

  const MPI_Comm handle;
  const std::int32_t rank;
  const std::uint32_t context;  // own number
  const std::vector<Peer> peers;
  const bool mixed;

  // What the program promises, each as it has said last.
  static constexpr unsigned kNoAnySource = 1;  // mpi_assert_no_any_source
  static constexpr unsigned kOvertaking = 2;   // mpi_assert_allow_overtaking
  std::atomic<unsigned> promises{0};
  // So no receive need wait for the outcome of one from any source.
  bool unordered() const { return promises.load(std::memory_order_relaxed) != 0; }

  void retain() { add(1); }
  // The last user frees the host's communicator as well, where the program has freed it before.
  void release() {
    if (add(-1) == 0) end();
  }
  // A request of the endpoint's that the program has given back before its end keeps no more than this object.
  void leave_behind() { lives_.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (lives_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  // The program frees the handle. True: there are users yet, so do not free the host's communicator.
  bool close();
  // No operation is pending.
  bool idle() const {
    return users_.load(std::memory_order_acquire) == 1 && lives_.load(std::memory_order_acquire) == 1;
  }

  // Do users come and go on one thread only? Then counting them needs no locked instructions. Set before the first
  // circle is opened.
  static inline bool one_thread = false;

 private:
  ~Circle() = default;
  void end();
  // Returns how many there are then.
  std::uint32_t add(int more) {
    const auto change = static_cast<std::uint32_t>(more);
    if (!one_thread) return users_.fetch_add(change, std::memory_order_acq_rel) + change;
    const std::uint32_t now = users_.load(std::memory_order_relaxed) + change;
    users_.store(now, std::memory_order_relaxed);
    return now;
  }

  std::atomic<std::uint32_t> users_{1};  // the handle's own, until it is freed
  std::atomic<std::uint32_t> lives_{1};  // that of all users, and what was left behind
};

using Circles = HandleMap<MPI_Comm, Circle>;
// circle() of a handle that the thread has not asked for lately.
Circle* look_up_circle(MPI_Comm handle);

// The circle of a communicator; nullptr where its messages are the host's.
inline Circle* circle(MPI_Comm handle) {
  const Circles::Found found = Circles::recall(handle);
  return found.known ? found.object : look_up_circle(handle);
}

// A communicator is known from now on, with the numbers of this place.
void open_circle(MPI_Comm made, const job::Place& place);

// The program has given the communicator these hints.
void note_promises(MPI_Comm handle, MPI_Info info);

// The program frees the communicator. True: messages on it are pending, and it is freed after the last.
bool close_circle(MPI_Comm handle);
// Waits until no operation on it is pending, for MPI_Comm_disconnect.
void drain_circle(MPI_Comm handle);

}  // namespace urakata::shim
