// SPDX-License-Identifier: BSD-3-Clause
// The connections of a channel set to its peers, and the watch over them: which peers do not answer, have ended, or
// have left.
//
// Leaving. Ranks free a communicator one after the other. Those that remain may still wait for each other on it. A rank
// that leaves sends one byte as urgent data of TCP (RFC 6093), which is not part of the stream that operations read. If
// a connection ends after that byte, this is no failure. If a firewall removes the urgent mark, the byte is an ordinary
// one at the end of the stream. Ranks that wait for the sender then take it for lost.
//
// Thread-safety: under the channel set's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace urakata::chain {

struct Peer {
  int socket = -1;        // blocking, connected; owned by the channel set's PeerConnections. -1: the rank itself
  std::int32_t rank = 0;  // of MPI_COMM_WORLD, for messages to the user
};

class PeerConnections {
 public:
  // `peers`: by rank of the group. `timeout_ns`: time after which a peer that does not answer is lost.
  PeerConnections(std::vector<Peer> peers, std::uint64_t timeout_ns);
  ~PeerConnections();
  PeerConnections(const PeerConnections&) = delete;
  PeerConnections& operator=(const PeerConnections&) = delete;

  const Peer& of(std::size_t rank) const { return peers_[rank]; }

  // Whether a peer has not answered retransmissions or probes for about the timeout. If so, tells the user. Asks the
  // kernel four times in a timeout; other calls only read the clock.
  bool one_is_silent();
  // Whether a rank of `waited_for` (bits by rank of the group) has ended without leaving. If so, tells the user. Also
  // finds out which ranks have left. Makes at most two system calls for each peer.
  bool lost_one_of(std::uint64_t waited_for);
  // The ranks that have left, as bits by rank of the group, as far as lost_one_of() has found out.
  std::uint64_t left() const { return others_left_; }

  // Tells all peers that this rank leaves. Only the first call does so. Does not wait.
  void leave();
  // Shuts all connections down, and discards bytes that have arrived and were not read.
  void shut();

 private:
  const std::vector<Peer> peers_;
  const std::uint64_t timeout_ns_;
  std::vector<unsigned> silent_;  // by peer: number of checks in a row at which the peer was silent
  std::uint64_t next_check_ns_ = 0;
  std::uint64_t others_left_ = 0;
  bool left_ = false;  // whether this rank has told its peers that it leaves
};

}  // namespace urakata::chain
