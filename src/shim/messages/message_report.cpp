// SPDX-License-Identifier: BSD-3-Clause
#include "shim/messages/message_report.hpp"

#include <algorithm>
#include <array>

#include "base/clock.hpp"
#include "observe/observer.hpp"
#include "shim/communicators/endpoint_comms.hpp"
#include "shim/messages/message.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/profiled.hpp"
#include "shim/process/space.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

namespace {

thread_local std::uint64_t waited_until = 0;

// Whether an endpoint communicator has other ranks in this rank's space, ranks that the link reaches, and ranks that
// only the MPI library reaches.
struct Reached {
  explicit Reached(const EndpointComm& in) : by_native(in.mixed) {
    for (std::size_t rank = 0; rank < in.peers.size(); ++rank) {
      near = near || (in.peers[rank].port != nullptr && static_cast<std::int32_t>(rank) != in.rank);
      linked = linked || in.peers[rank].link != p2p::kNoPeer;
    }
  }
  bool near = false;
  bool linked = false;
  bool by_native;
};

const char* carrier(int peer, MPI_Comm comm) {
  const EndpointComm* const in = endpoint() != nullptr ? endpoint_comm(comm) : nullptr;
  if (in == nullptr) return "native";
  if (peer == MPI_ANY_SOURCE) {
    constexpr std::array kWays = {"itself", "space",           "wire",           "space or wire",
                                  "native", "space or native", "wire or native", "space, wire or native"};
    const Reached reached(*in);
    return kWays[(reached.near ? 1U : 0U) + (reached.linked ? 2U : 0U) + (reached.by_native ? 4U : 0U)];
  }
  if (!in->has(peer) || in->outside(peer)) return "native";
  if (in->linked(peer)) return "wire";
  return peer == in->rank && !Reached(*in).near ? "itself" : "space";
}

observe::MessageSite* site_of(const char* operation, const void* address, const char* carrier) {
  if (inside_native(address)) return nullptr;
  return process_state.observer->message_site({operation, address, carrier});
}

std::uint64_t size_of(std::int64_t count, MPI_Datatype type) {
  MPI_Count size = 0;
  native.Type_size_x(type, &size);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

std::uint64_t size_of(const MPI_Status& status) {
  MPI_Count bytes = 0;
  native.Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;  // MPI_UNDEFINED is negative
}

// What the endpoint knows of the transfer of a message by the link; empty for messages that other carriers may move.
observe::SeenTransfer transfer_of(const Request& request) {
  const MessageDescriptor& descriptor = request.message.descriptor;
  const bool linked = descriptor.peer != p2p::kNoPeer || descriptor.carrier == Carrier::link;
  if (!linked || request.message.open == nullptr) return {};
  const p2p::Transfer found = endpoint()->transfer(*request.message.open);
  return {.met = found.met, .over = found.over, .bytes = found.bytes, .moved = found.moved};
}

}  // namespace

ObservedMessage::ObservedMessage(const char* operation, const void* address, int peer, MPI_Comm comm)
    : site_(peer != MPI_PROC_NULL ? site_of(operation, address, carrier(peer, comm)) : nullptr), begin_(call_begin()) {}

void ObservedMessage::sent(std::int64_t count, MPI_Datatype type) {
  if (site_ == nullptr) return;
  site_->started();
  site_->moved(size_of(count, type));
}

void ObservedMessage::received(const MPI_Status& status) {
  if (site_ == nullptr) return;
  site_->started();
  site_->moved(size_of(status));
}

void ObservedMessage::waited() {
  if (site_ == nullptr) return;
  site_->waited_for(call_end() - begin_);
  site_->ended();
}

void ObservedMessage::sent_with_receive(std::int64_t count, MPI_Datatype type) {
  sent(count, type);
  if (site_ != nullptr) site_->ended();
}

void ObservedMessage::sent_later(std::int64_t count, MPI_Datatype type, MPI_Request handle) {
  sent(count, type);
  attach(handle);
}

void ObservedMessage::received_later(MPI_Request handle) {
  if (site_ != nullptr) site_->started();
  attach(handle);
}

void ObservedMessage::prepared(MPI_Request handle) { attach(handle); }

void ObservedMessage::attach(MPI_Request handle) {
  Request* const request = site_ != nullptr && is_ours(handle) ? find_request(handle) : nullptr;
  if (request == nullptr) return;
  if (request->type == RequestType::finished_send) {
    site_->ended();  // a send that was finished when it was started: there is nothing to wait for
    site_->brief();
  } else {
    request->message_site = site_;
    request->message_overlap = {};
    if (request->active) request->message_overlap.left(call_end(), transfer_of(*request));
  }
}

void observe_start(Request& request) {
  if (request.message_site == nullptr) return;
  request.message_overlap = {};
  request.message_site->started();
  const MessageDescriptor& descriptor = request.message.descriptor;
  if (descriptor.is_send()) {
    request.message_site->moved(static_cast<std::uint64_t>(descriptor.count) * descriptor.type->size);
  }
}

void observe_started(Request& request) {
  if (request.message_site == nullptr || !request.active) return;
  if (request.message.open == nullptr && request.message.mixed == nullptr) request.message_site->brief();
  request.message_overlap.left(now_ns(), transfer_of(request));
}

void observe_entry(Request& request, std::uint64_t begin) {
  if (request.message_site != nullptr) request.message_overlap.entered(begin, transfer_of(request));
}

void observe_exit(int count, const MPI_Request* requests) {
  std::uint64_t now = 0;
  for (int i = 0; i < count; ++i) {
    Request* const request = is_ours(requests[i]) ? find_request(requests[i]) : nullptr;
    if (request == nullptr || !request->active || request->message_site == nullptr) continue;
    if (now == 0) now = now_ns();
    request->message_overlap.left(now, transfer_of(*request));
  }
}

void observe_waiting(const Request& request, std::uint64_t begin) {
  const std::uint64_t now = now_ns();
  if (request.message_site != nullptr) request.message_site->waited_for(now - std::max(begin, waited_until));
  waited_until = now;
}

void observe_other_waiting() { waited_until = now_ns(); }

void observe_end(Request& request, std::uint64_t begin) {
  if (request.message_site == nullptr || !request.active) return;
  observe_waiting(request, begin);
  request.message_overlap.ended(*request.message_site, transfer_of(request));
  if (!request.message.descriptor.is_send()) {
    MPI_Status status{};
    message_status(request, &status);
    request.message_site->moved(size_of(status));
  }
  request.message_site->ended();
  if (!request.persistent) request.message_site = nullptr;
}

}  // namespace urakata::shim
