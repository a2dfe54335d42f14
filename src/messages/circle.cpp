// SPDX-License-Identifier: BSD-3-Clause
#include "messages/circle.hpp"

#include <algorithm>
#include <utility>

namespace urakata::messages {

Circle* Circle::make(Host& host, HostHandle communicator, std::int32_t own_rank, std::uint32_t own_context,
                     std::vector<Peer> peers) {
  const auto reached = std::count_if(peers.begin(), peers.end(), [](const Peer& peer) { return peer.reached(); });
  return reached < 2 ? nullptr : new Circle(host, communicator, own_rank, own_context, std::move(peers));
}

Circle::Circle(Host& host, HostHandle of, std::int32_t own_rank, std::uint32_t own_context, std::vector<Peer> all)
    : communicator(of),
      rank(own_rank),
      context(own_context),
      peers(std::move(all)),
      mixed(std::any_of(peers.begin(), peers.end(), [](const Peer& peer) { return !peer.reached(); })),
      wide(std::any_of(peers.begin(), peers.end(), [](const Peer& peer) { return peer.port == nullptr; })),
      host_(host) {}

void Circle::end() {
  host_.unused(*this);
  drop();
}

void Circle::close(const Freed& freed) {
  freed_ = freed;
  closed_.store(true, std::memory_order_release);
  release();
}

}  // namespace urakata::messages
