// SPDX-License-Identifier: BSD-3-Clause
// The stripes of all pairs: made, accepted and given up; and how what comes by them is acknowledged.
//
// A lost stripe's pieces wait for other stripes. It is made again after a while. Once nothing can be sent to a peer or
// received from it any more, all messages of the pair end with an error.
//
// Thread-safety: under the lock of Stripes.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "transport/stripes/busy_periods.hpp"
#include "transport/stripes/stripe_counts.hpp"
#include "transport/stripes/stripe_peer.hpp"
#include "transport/stripes/stripes_settings.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

class StripePool {
 public:
  // The connections are watched by the epoll set. `failure`: the error code of messages whose pair has failed.
  StripePool(Wire& wire, const StripesSettings& settings, int failure, int epoll, StripeCounts& counts,
             BusyPeriods& periods)
      : wire_(wire), settings_(settings), failure_(failure), epoll_(epoll), counts_(counts), periods_(periods) {}

  // The stripe of this connection; nullptr: there is none any more.
  Stripe* find(const void* connection) const;

  // Makes as many stripes to it as its backlog keeps busy.
  void open(StripePeer& to);
  // Makes stripes to it until there are `wanted`, unless that could not be done a moment ago.
  void make(StripePeer& to, std::size_t wanted);
  // Takes over a connection that this peer has made, as a stripe. If the pair has failed, the peer is told, and what
  // the stripe brings is thrown away.
  void adopt(StripePeer& from, std::unique_ptr<Connection> connection);

  // The stripe, which is destroyed, is broken. What it had and is not acknowledged waits for others.
  void lose(Stripe& stripe);
  // Gives up the pair: all its messages end with an error. `refused`: the peer says that it has done so.
  void fail(StripePeer& peer, bool refused = false);
  // Closes all stripes of a pair that has nothing under way, or has failed.
  void close(StripePeer& peer);

  // The pieces that have come by the stripe are to be acknowledged.
  void owe_acknowledgement(Stripe& stripe) { to_acknowledge_.push_back(&stripe); }
  // One frame for all pieces of a stripe that came meanwhile.
  void acknowledge();
  // No event can name a closed connection any more.
  void forget_closed() { closed_.clear(); }

 private:
  void shape(int socket, bool near) const;
  void end(Stripe& stripe);

  Wire& wire_;
  const StripesSettings& settings_;
  const int failure_;
  const int epoll_;
  StripeCounts& counts_;
  BusyPeriods& periods_;
  std::unordered_map<const void*, Stripe*> by_connection_;
  std::vector<Stripe*> to_acknowledge_;
  std::vector<std::unique_ptr<Connection>> closed_;  // until forget_closed()
};

}  // namespace urakata::transport
