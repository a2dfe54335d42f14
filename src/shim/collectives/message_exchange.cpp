// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/message_exchange.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/options/options.hpp"
#include "base/reserve.hpp"
#include "observe/observer.hpp"
#include "shim/collectives/call_binding.hpp"
#include "shim/collectives/call_staging.hpp"
#include "shim/collectives/start.hpp"
#include "shim/completion/completion.hpp"
#include "shim/messages/message.hpp"
#include "shim/native/without_memory.hpp"
#include "shim/process/devices.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/profiled.hpp"
#include "shim/process/space.hpp"
#include "shim/requests/request.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {

namespace {

using collectives::Neighbourhood;

// Tags of an exchange's messages.
constexpr std::int32_t kPayload = 0;
constexpr std::int32_t kNotStarted = 1;

// Messages of an exchange, without their payload.
MessageDescriptor from_neighbour(EndpointComm& endpoint_comm, std::uint32_t rank) {
  MessageDescriptor made;
  made.endpoint_comm = &endpoint_comm;
  messages::route_receive(static_cast<std::int32_t>(rank), p2p::kAnyTag, made);
  made.envelope.context |= EndpointComm::kCollective;
  return made;
}
MessageDescriptor to_neighbour(EndpointComm& endpoint_comm, std::uint32_t rank, std::int32_t tag) {
  MessageDescriptor made;
  made.endpoint_comm = &endpoint_comm;
  messages::route_send(static_cast<std::int32_t>(rank), tag, p2p::Mode::standard, made);
  made.envelope.context |= EndpointComm::kCollective;
  return made;
}

void describe_payload(const Side& side, std::size_t i, MessageDescriptor& message) {
  const Block& block = side.block(i);
  messages::describe_buffer(writable(side.address) + block.displacement, block.elements, *block.type, message);
}

p2p::Request* start_one(const MessageDescriptor& message) {
  return message.is_send() ? open_send(message) : &endpoint()->receive(message.envelope, message.buffer);
}

// The endpoint communicator of a communicator whose exchanges go by messages; nullptr: they go another way. The same on
// all its ranks.
EndpointComm* exchange_comm(MPI_Comm comm) {
  EndpointComm* const all = endpoint_comm(comm);
  return all != nullptr && !all->mixed && !all->wide ? all : nullptr;
}

// Gives a fresh request an exchange that is ready to begin. The result is an MPI error code. After an error the request
// still holds what it was given.
int prepare_messages(const Call& call, Reading& reading, Communicator& comm, EndpointComm& endpoint_comm,
                     Request& request) {
  request.type = RequestType::exchange;
  request.communicator = &comm;
  comm.retain();
  return or_no_memory([&]() -> int {
    retain_types(reading, request);
    if (have_devices()) {
      Call staged = call;
      if (const int code = stage_call(staged, reading, request); code != MPI_SUCCESS) return code;
      if (request.staging != nullptr) {
        if (const int code = fetch(request); code != MPI_SUCCESS) return code;
      }
    }
    request.exchange = std::make_unique<MessageExchange>(endpoint_comm, reading);
    request.exchange_comm.store(&endpoint_comm, std::memory_order_release);
    return MPI_SUCCESS;
  });
}

// For an exchange that this rank cannot start: takes its place in the order of exchanges. Gives up if there is no
// memory for that either.
[[gnu::cold]] void fail_exchange(const Call& call, Communicator& comm, EndpointComm& endpoint_comm) {
  or_no_memory([&] {
    const Neighbours* const known = comm.neighbours();
    if (known == nullptr) return MPI_SUCCESS;
    const auto neighbours = known->view(Form::alltoall, call.form == CallForm::blocking);
    for (const std::uint32_t from : neighbours.sources) {
      if (from != Neighbourhood::kNobody) leave_behind(*start_one(from_neighbour(endpoint_comm, from)), endpoint_comm);
    }
    for (const std::uint32_t to : neighbours.destinations) {
      if (to == Neighbourhood::kNobody) continue;
      p2p::Request* const open = start_one(to_neighbour(endpoint_comm, to, kNotStarted));
      if (open != nullptr) leave_behind(*open, endpoint_comm);
    }
    expect_messages();
    return MPI_SUCCESS;
  });
}

}  // namespace

MessageExchange::MessageExchange(EndpointComm& endpoint_comm, const Reading& reading) : endpoint_comm_(endpoint_comm) {
  const auto& [destinations, sources, order] = reading.neighbours;
  messages_.reserve(destinations.size() + sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t s = order.empty() ? i : order[i];
    if (sources[s] == Neighbourhood::kNobody) continue;
    messages_.push_back({from_neighbour(endpoint_comm, sources[s])});
    describe_payload(reading.recv, s, messages_.back().what);
  }
  for (std::size_t d = 0; d < destinations.size(); ++d) {
    if (destinations[d] == Neighbourhood::kNobody) continue;
    messages_.push_back({to_neighbour(endpoint_comm, destinations[d], kPayload)});
    describe_payload(reading.send, d, messages_.back().what);
  }
  endpoint_comm_.retain();
}

MessageExchange::~MessageExchange() {
  for (const Message& message : messages_) {
    if (message.open != nullptr) endpoint()->release(*message.open);
  }
  endpoint_comm_.release();
}

void MessageExchange::begin() {
  for (Message& message : messages_) message.open = start_one(message.what);
  expect_messages();
}

bool MessageExchange::done() const {
  return std::ranges::all_of(messages_, [](const Message& one) { return one.open == nullptr || one.open->done(); });
}

void MessageExchange::wait() {
  for (const Message& message : messages_) {
    if (message.open != nullptr) endpoint()->wait(*message.open);
  }
}

int MessageExchange::error() const {
  for (const auto& [what, open] : messages_) {
    // A send whose payload was copied aside may not have left yet: the program does not learn its outcome.
    if (open == nullptr || !open->finished.load(std::memory_order_acquire)) continue;
    if (const int code = code_of(open->result); code != MPI_SUCCESS) return code;
    if (!what.is_send() && open->result.tag == kNotStarted) return MPI_ERR_OTHER;
  }
  return MPI_SUCCESS;
}

void MessageExchange::leave(std::unique_ptr<NeighbourExchange> /*own*/, std::vector<const Datatype*> types) {
  for (Message& message : messages_) {
    if (message.open == nullptr || message.open->done()) continue;
    retain(message.open->buffer);
    leave_behind(*std::exchange(message.open, nullptr), endpoint_comm_);
  }
  for (const Datatype* const type : types) type->release();
}

bool may_be_message_exchange(const Call& call) {
  return call.operation == collectives::Operation::neighbor_alltoallv && endpoint() != nullptr &&
         options().neighbours_directly();
}

bool exchanged(const Call& call, MPI_Request* request_out, int* code) {
  EndpointComm* const endpoint_comm = exchange_comm(call.comm);
  Communicator* const comm = endpoint_comm != nullptr ? communicator(call.comm) : nullptr;
  if (comm == nullptr) return false;
  observe::Observer* const observer = process_state.observer;
  const bool blocking = call.form == CallForm::blocking;
  const std::uint64_t begin = observer != nullptr ? call_begin() : 0;
  Reading reading;
  bool right = true;
  *code = or_no_memory([&] {
    right = read_call(call, *comm, reading);
    return !right || (reserve::enough() && have_request()) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  });
  if (!right) return false;
  Request* const made = *code == MPI_SUCCESS ? make_request() : nullptr;
  if (made != nullptr) *code = prepare_messages(call, reading, *comm, *endpoint_comm, *made);
  if (*code != MPI_SUCCESS) {
    if (made != nullptr) destroy_request(made);
    fail_exchange(call, *comm, *endpoint_comm);
    complain(comm, *code);
    return true;
  }
  Request& request = *made;
  if (observer != nullptr) request.observed.started(begin);
  request.active = true;
  request.exchange->begin();
  if (observer != nullptr) {  // a blocking call is nothing but waiting: it has no start and no gap
    request.observed.returned(blocking ? begin : call_end(), profiled);
    request.call_site = call_site(*observer, call, reading.key.bytes, "poll", MessageExchange::kAlgorithm,
                                  "all ranks are in one space");
    request.observed.at(request.call_site);
  }
  MPI_Request handle = request.handle();
  if (blocking) {
    request.exchange->wait();
    *code = complete(request, &handle, MPI_STATUS_IGNORE, begin);
  } else {
    *request_out = handle;
  }
  return true;
}

}  // namespace urakata::shim
