// SPDX-License-Identifier: BSD-3-Clause
// An endpoint communicator: a communicator with ranks that this rank's endpoint reaches, in its space or by a link, so
// that the program's own messages between them go by endpoints. It is mixed if it has other ranks too: messages with
// those are the MPI library's, on the same communicator.
//
// Each rank numbers its endpoint communicators itself; a message carries the number that its receiver has chosen
// (job/contexts.hpp).
//
// Thread-safety: constant but for the count of users and the program's assertions; all members by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "messages/native_receives.hpp"
#include "p2p/link.hpp"
#include "p2p/port.hpp"

namespace urakata::messages {

class EndpointComm {
 public:
  struct Peer {
    p2p::Port* port = nullptr;          // nullptr: not in this rank's space
    std::uint32_t context = 0;          // the peer's number for this endpoint communicator
    p2p::LinkPeer link = p2p::kNoPeer;  // of one that is not in this rank's space

    bool reached() const { return port != nullptr || link != p2p::kNoPeer; }
  };

  // nullptr where the endpoint reaches fewer than two ranks, this one among them: the MPI library has such a
  // communicator. The endpoint communicator belongs to its users.
  static EndpointComm* make(NativeReceives& native, NativeHandle communicator, std::int32_t own_rank,
                            std::uint32_t own_context, std::vector<Peer> peers);

  const NativeHandle communicator;
  const std::int32_t rank;
  const std::uint32_t context;  // own number
  // Messages of the communicator's collectives have another one, so that no receive or probe of the program's takes
  // them: its own with this bit. (There are no two thousand million communicators.)
  static constexpr std::uint32_t kCollective = std::uint32_t{1} << 31U;
  const std::vector<Peer> peers;
  const bool mixed;  // not all are reached
  const bool wide;   // not all are in this rank's space

  // What the program asserts (mpi_assert_*), each as it has said last.
  static constexpr unsigned kNoAnySource = 1;  // mpi_assert_no_any_source
  static constexpr unsigned kOvertaking = 2;   // mpi_assert_allow_overtaking
  std::atomic<unsigned> assertions{0};
  // Whether an assertion makes it needless that a receive waits for the outcome of an earlier one from any source.
  bool unordered() const { return assertions.load(std::memory_order_relaxed) != 0; }

  bool has(int rank_of_peer) const { return static_cast<std::size_t>(rank_of_peer) < peers.size(); }
  // Whether the endpoint does not reach this rank of the communicator.
  bool outside(int rank_of_peer) const { return !peers[static_cast<std::size_t>(rank_of_peer)].reached(); }
  // Whether the endpoint reaches this rank of the communicator by its link.
  bool linked(int rank_of_peer) const { return peers[static_cast<std::size_t>(rank_of_peer)].link != p2p::kNoPeer; }

  void retain() { add(1); }
  void release() {
    if (add(-1) == 0) end();
  }
  // A request of the endpoint's that the program has given back before its end keeps no more than this object.
  void leave_behind() { lives_.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (lives_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  // Whether no user is left but the handle.
  bool unused() const { return users_.load(std::memory_order_acquire) == 1; }
  // Has every request ended that the program freed (MPI_Request_free) while it was pending?
  bool none_left_behind() const { return lives_.load(std::memory_order_acquire) == 1; }

  // What becomes of the MPI library's communicator when the program frees the handle.
  struct Freed {
    bool kept = false;         // receives still need it: it is freed behind the last user
    NativeHandle handler = 0;  // its error handler, where it is not kept and has users yet
  };
  // The program has freed the handle.
  void close(const Freed& freed);
  // Has the program freed the handle? From then on freed() is constant.
  bool closed() const { return closed_.load(std::memory_order_acquire); }
  const Freed& freed() const { return freed_; }
  // Whether the MPI library's communicator must not be used any more.
  bool gone() const { return closed() && !freed_.kept; }

  // Do users come and go on one thread only? Then counting them needs no locked instructions. Set before the first
  // endpoint communicator is opened.
  static inline bool one_thread = false;

 private:
  EndpointComm(NativeReceives& native, NativeHandle communicator, std::int32_t own_rank, std::uint32_t own_context,
               std::vector<Peer> peers);
  ~EndpointComm() = default;
  void end();
  // Changes the number of users by `more`. Returns the new number.
  std::uint32_t add(int more) {
    const auto change = static_cast<std::uint32_t>(more);
    if (!one_thread) return users_.fetch_add(change, std::memory_order_acq_rel) + change;
    const std::uint32_t now = users_.load(std::memory_order_relaxed) + change;
    users_.store(now, std::memory_order_relaxed);
    return now;
  }

  Freed freed_;
  std::atomic<bool> closed_{false};
  std::atomic<std::uint32_t> users_{1};  // number of users; the handle is one until it is freed
  std::atomic<std::uint32_t> lives_{1};  // one for all users together, and one for each request left behind
  NativeReceives& native_;
};

}  // namespace urakata::messages
