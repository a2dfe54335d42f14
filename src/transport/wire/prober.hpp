// SPDX-License-Identifier: BSD-3-Clause
// Finds out which of several addresses is a rank's: connects to each, and sees where that rank answers.
//
// Thread-safety: any thread; every call takes the Wire's lock, except acknowledged(), for which the Wire holds it. The
// answers come while somebody calls Wire::step().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/mutex.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/connector.hpp"
#include "transport/wire/sockets.hpp"

namespace urakata::transport {

class Prober {
 public:
  // The epoll set `epoll` watches the probes.
  Prober(Mutex& lock, const Connector& connector, int epoll) : lock_(lock), connector_(connector), epoll_(epoll) {}

  // Probes each of the listen addresses, the best first, to learn which of them is rank `rank`'s; answer() after some
  // steps says so. Several ranks at a time.
  void probe(std::span<const ListenAddress> listen_addresses, std::int32_t rank);
  struct Answer {
    int opened = -1;               // the index of the first listener that was found to be the right one; -1: none yet
    bool better_may_come = false;  // from a listener before that one
    bool more_may_come = false;    // from any listener
    std::uint32_t round_trip_us = 0;  // to `opened`; 0: not known
  };
  Answer answer(std::int32_t rank) const;
  // Ends the probes of this rank, or of all.
  void end(std::int32_t rank);
  void end();

  // Rank `rank` has answered on this connection. Whether it is the rank that was probed; nullopt: the connection is no
  // probe.
  std::optional<bool> acknowledged(const Connection& from, std::int32_t rank);

 private:
  struct Probe {
    std::int32_t rank = -1;
    std::unique_ptr<Connection> connection;
    bool opened = false;
    std::uint32_t round_trip_us = 0;
  };

  Mutex& lock_;
  const Connector& connector_;
  const int epoll_;

  std::vector<Probe> probes_ URAKATA_GUARDED_BY(lock_);  // by anyone
};

}  // namespace urakata::transport
