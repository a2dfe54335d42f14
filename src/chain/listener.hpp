// SPDX-License-Identifier: BSD-3-Clause
// The listener of a process for the connections of its channel sets.
//
// All ranks of a communicator connect in the MPI call that makes the communicator. Each connects to the ranks before it
// in the group, and accepts those after it. A connection begins with a handshake: the job's secret, the rank that
// connects, and the accepting rank's number for the communicator. Then it carries nothing but the bytes of operations.
//
// Thread-safety: connect() and port() by any thread, several at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "chain/peer_connections.hpp"
#include "transport/wire/sockets.hpp"

namespace urakata::chain {

class Listener {
 public:
  // Listens at the addresses `only`, or at all addresses of this machine if that is empty. `rank`: this process's, in
  // MPI_COMM_WORLD. `timeout_ns`: for connect(), and for connections without a sign of life (transport::keep_alive()).
  static Result<std::unique_ptr<Listener>> open(std::int32_t rank, transport::Secret secret, std::uint64_t timeout_ns,
                                                std::span<const InterfaceAddress> only = {});
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::uint16_t port() const { return listeners_.port; }

  struct Member {
    std::int32_t rank = 0;             // of MPI_COMM_WORLD
    std::int32_t context = 0;          // the member's number for the communicator
    transport::ListenAddress address;  // of the member's listener
  };
  // Connects to all other members, which must call it, too. `members`: by rank of the group; `own`: this rank's index.
  // Returns the connections, which the caller owns, by rank of the group. Waits for at most the timeout. Error: those
  // that it had already are closed.
  Result<std::vector<Peer>> connect(std::span<const Member> members, std::size_t own);

 private:
  struct Handshake {
    std::uint64_t low = 0, high = 0;  // the job's secret
    std::int32_t rank = 0;            // the rank that connects
    std::int32_t context = 0;         // the accepting rank's number for the communicator
  };
  static_assert(sizeof(Handshake) == 24);
  struct Pending {  // an accepted connection whose handshake has not come
    int socket = -1;
    std::uint64_t since_ns = 0;
  };

  Listener(std::int32_t rank, transport::Secret secret, std::uint64_t timeout_ns)
      : rank_(rank), secret_(secret), timeout_ns_(timeout_ns) {}
  Result<int> connect_to(const Member& member, std::uint64_t until_ns);
  void accept_for(int milliseconds);
  void limit_pending() URAKATA_REQUIRES(lock_);

  // Constant once open() has ended.
  const std::int32_t rank_;
  const transport::Secret secret_;
  const std::uint64_t timeout_ns_;
  transport::ListenSockets listeners_;

  // Under the lock, by any thread.
  Mutex lock_;
  bool full_ URAKATA_GUARDED_BY(lock_) = false;             // no descriptor was left for a connection
  std::vector<Pending> pending_ URAKATA_GUARDED_BY(lock_);  // the oldest first
  // Connections that connect() has not taken yet, by this rank's number for the communicator and the other rank.
  std::map<std::pair<std::int32_t, std::int32_t>, int> accepted_ URAKATA_GUARDED_BY(lock_);
};

}  // namespace urakata::chain
