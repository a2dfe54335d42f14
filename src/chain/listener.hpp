// SPDX-License-Identifier: BSD-3-Clause
// The listener of a process for channel sets' connections.
//
// All ranks of a communicator connect in the call that makes it: each to those before it, and it accepts those after
// it. A connection begins with a handshake: the job's secret, the rank, and the number that the rank it leads to has
// for the communicator; then it carries nothing but the bytes of operations.
//
// Thread-safety: connect() by any thread, several at once.
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
  // Listens at the addresses `only`; empty: at all of this machine's.
  static Result<std::unique_ptr<Listener>> open(std::int32_t rank, transport::Secret secret, std::uint64_t timeout_ns,
                                                std::span<const InterfaceAddress> only = {});
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::uint16_t port() const { return listeners_.port; }

  struct Member {
    std::int32_t rank = 0;             // of MPI_COMM_WORLD
    std::int32_t context = 0;          // its number for the communicator
    transport::ListenAddress address;  // of its listener
  };
  // A connection to each other member, by rank of the group; `own` is this rank's. Returns when all are there, or with
  // an error after the timeout. Blocks.
  Result<std::vector<Peer>> connect(std::span<const Member> members, std::size_t own);

 private:
  struct Handshake {
    std::uint64_t low = 0, high = 0;  // the job's secret
    std::int32_t rank = 0;            // who connects
    std::int32_t context = 0;         // of the communicator, for who is connected to
  };
  static_assert(sizeof(Handshake) == 24);
  struct Pending {  // accepted, and its handshake has not come
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

  // Under the lock, by anyone.
  Mutex lock_;
  bool full_ URAKATA_GUARDED_BY(lock_) = false;             // the last call found no descriptor for who connects
  std::vector<Pending> pending_ URAKATA_GUARDED_BY(lock_);  // the oldest first
  // (own context, rank): not taken yet
  std::map<std::pair<std::int32_t, std::int32_t>, int> accepted_ URAKATA_GUARDED_BY(lock_);
};

}  // namespace urakata::chain
