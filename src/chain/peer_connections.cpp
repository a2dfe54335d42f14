// SPDX-License-Identifier: BSD-3-Clause
#include "chain/peer_connections.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/socket_watch.hpp"

namespace urakata::chain {
namespace {

constexpr unsigned kSilent = 2;                            // checks in a row at which a lost peer was silent
constexpr std::size_t kDiscarded = std::size_t{1} << 20U;  // bytes, in one call

bool has_ended(int connection) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state != TCP_ESTABLISHED;
}

// Whether the peer has sent the byte that says that it leaves. Leaves the byte there.
bool said_goodbye(int connection) {
  char byte = 0;
  return recv(connection, &byte, 1, MSG_OOB | MSG_PEEK | MSG_DONTWAIT) == 1;
}

}  // namespace

PeerConnections::PeerConnections(std::vector<Peer> peers, std::uint64_t timeout_ns)
    : peers_(std::move(peers)), timeout_ns_(timeout_ns), silent_(peers_.size()) {
  for (const Peer& peer : peers_) {
    if (peer.socket >= 0) SocketWatch::leave_out(peer.socket);
  }
}

PeerConnections::~PeerConnections() {
  for (const Peer& peer : peers_) {
    if (peer.socket < 0) continue;
    SocketWatch::closed(peer.socket);
    close(peer.socket);
  }
}

bool PeerConnections::one_is_silent() {
  const std::uint64_t now = now_ns();
  if (now < next_check_ns_) return false;
  const std::uint64_t quarter = timeout_ns_ / 4;
  next_check_ns_ = now + quarter;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (peers_[i].socket < 0 || getsockopt(peers_[i].socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) continue;
    // A node whose process does not read, so that there is no room for more, answers the kernel's probes.
    const bool asked = info.tcpi_retransmits != 0 || info.tcpi_probes != 0;
    const bool silent = asked && info.tcpi_last_ack_recv > 2 * quarter / 1'000'000;
    silent_[i] = silent ? silent_[i] + 1 : 0;
    if (silent_[i] < kSilent) continue;
    log::error("lost the connection to rank %d: %s", peers_[i].rank, std::strerror(ETIMEDOUT));
    return true;
  }
  return false;
}

bool PeerConnections::lost_one_of(std::uint64_t waited_for) {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const std::uint64_t peer = std::uint64_t{1} << i;
    const int connection = peers_[i].socket;
    if (connection < 0 || (others_left_ & peer) != 0) continue;
    const bool ended = has_ended(connection);  // asked first: by the end, the byte has come, too
    if (said_goodbye(connection)) {
      others_left_ |= peer;
    } else if (ended && (waited_for & peer) != 0) {
      log::error("lost the connection to rank %d: its process has ended", peers_[i].rank);
      return true;
    }
  }
  return false;
}

void PeerConnections::leave() {
  if (std::exchange(left_, true)) return;
  constexpr char kGoodbye = 'g';
  for (const Peer& peer : peers_) {
    if (peer.socket >= 0) send(peer.socket, &kGoodbye, 1, MSG_OOB | MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

void PeerConnections::shut() {
  for (const Peer& peer : peers_) {
    if (peer.socket < 0) continue;
    shutdown(peer.socket, SHUT_RDWR);
    while (recv(peer.socket, nullptr, kDiscarded, MSG_TRUNC | MSG_DONTWAIT) > 0) {
    }
  }
}

}  // namespace urakata::chain
