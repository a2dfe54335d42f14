// SPDX-License-Identifier: BSD-3-Clause
// The connections of a channel set to its peers, and the watch over them: who does not answer, who has ended, who has
// left.
//
// Leaving. Ranks give a communicator up one after the other, while those that stay may still wait for each other by the
// communicator's channel. Who leaves says so by a byte of TCP's urgent data (RFC 6093), which is no part of the stream
// that operations read: a connection that ends behind it is no failure. Where a firewall takes that mark away the byte
// is one more at the end of the stream, and its sender counts as lost, by those who wait for him.
//
// Thread-safety: under the channel set's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace urakata::chain {

struct Peer {
  int socket = -1;        // blocking, connected; the channel set's from now on. -1: the rank itself
  std::int32_t rank = 0;  // of MPI_COMM_WORLD, for messages to the user
};

class PeerConnections {
 public:
  // `peers`: by rank of the group. A peer is lost that does not answer for `timeout_ns`.
  PeerConnections(std::vector<Peer> peers, std::uint64_t timeout_ns);
  ~PeerConnections();
  PeerConnections(const PeerConnections&) = delete;
  PeerConnections& operator=(const PeerConnections&) = delete;

  const Peer& of(std::size_t rank) const { return peers_[rank]; }

  // Has a peer not answered for the timeout? Tells the user of it. Looks four times in that time, and costs little more
  // than the clock at other calls.
  bool one_is_silent();
  // Has the connection of one of `waited_for`, as bits by rank of the group, ended without its leave? Tells the user of
  // it. Finds out who has left. At most two calls of the system for each peer.
  bool lost_one_of(std::uint64_t waited_for);
  // Those who have left, likewise as bits, as far as lost_one_of() has found.
  std::uint64_t left() const { return others_left_; }

  // Tells the others that this rank leaves; once, at the first call. Does not wait.
  void leave();
  // Ends all connections, and throws away what has come and was not read.
  void shut();

 private:
  const std::vector<Peer> peers_;
  const std::uint64_t timeout_ns_;
  std::vector<unsigned> silent_;  // of each peer: checks in a row at which it was silent
  std::uint64_t next_check_ns_ = 0;
  std::uint64_t others_left_ = 0;
  bool left_ = false;  // this rank
};

}  // namespace urakata::chain
