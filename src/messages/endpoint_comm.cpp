// SPDX-License-Identifier: BSD-3-Clause
#include "messages/endpoint_comm.hpp"

#include <algorithm>
#include <utility>

namespace urakata::messages {

EndpointComm* EndpointComm::make(NativeReceives& native, NativeHandle communicator, std::int32_t own_rank,
                                 std::uint32_t own_context, std::vector<Peer> peers) {
  const auto reached = std::count_if(peers.begin(), peers.end(), [](const Peer& peer) { return peer.reached(); });
  return reached < 2 ? nullptr : new EndpointComm(native, communicator, own_rank, own_context, std::move(peers));
}

EndpointComm::EndpointComm(NativeReceives& native, NativeHandle of, std::int32_t own_rank, std::uint32_t own_context,
                           std::vector<Peer> all)
    : communicator(of),
      rank(own_rank),
      context(own_context),
      peers(std::move(all)),
      mixed(std::any_of(peers.begin(), peers.end(), [](const Peer& peer) { return !peer.reached(); })),
      wide(std::any_of(peers.begin(), peers.end(), [](const Peer& peer) { return peer.port == nullptr; })),
      native_(native) {}

void EndpointComm::end() {
  native_.unused(*this);
  drop();
}

void EndpointComm::close(const Freed& freed) {
  freed_ = freed;
  closed_.store(true, std::memory_order_release);
  release();
}

}  // namespace urakata::messages
