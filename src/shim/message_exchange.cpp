#include "shim/message_exchange.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/options.hpp"
#include "base/reserve.hpp"
#include "observe/observer.hpp"
#include "shim/call_binding.hpp"
#include "shim/completion.hpp"
#include "shim/devices.hpp"
#include "shim/message.hpp"
#include "shim/process.hpp"
#include "shim/profiled.hpp"
#include "shim/request.hpp"
#include "shim/space.hpp"
#include "shim/staging.hpp"
#include "shim/without_memory.hpp"

namespace urakata::shim {

namespace {

using collectives::Neighbourhood;

// Tags.
constexpr std::int32_t kPayload = 0;
constexpr std::int32_t kNotStarted = 1;

void describe_block(const Side& side, std::size_t i, MessageDescriptor& message) {
  const Block& block = side.blocks[side.blocks.size() == 1 ? 0 : i];
  messages::describe_buffer(writable(side.address) + block.displacement, block.elements, *block.type, message);
  message.envelope.context |= Circle::kCollective;
}

// The circle of a communicator whose exchanges go by messages; nullptr: they go another way. The same on all its ranks.
Circle* circle_of(MPI_Comm comm) {
  Circle* const all = circle(comm);
  return all != nullptr && !all->mixed && !all->wide ? all : nullptr;
}

observe::CallSite* site_of(observe::Observer& observer, const Call& call, const Reading& reading) {
  const observe::CallSiteKey site{call.name,
                                  call.call_site,
                                  reading.key.bytes,
                                  "poll",
                                  MessageExchange::kAlgorithm,
                                  observe::python_line(call.call_site)};
  return observer.call_site(site, "all ranks are in one space");
}

// Readies it to begin. `request` is fresh, and holds after an error what it was given.
int prepare_exchange(const Call& call, Reading& reading, Communicator& comm, Circle& circle, Request& request) {
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
    request.exchange = std::make_unique<MessageExchange>(circle, reading);
    return MPI_SUCCESS;
  });
}

// It cannot be started on this rank: takes its place in the order. Who has no memory for that either gives up.
[[gnu::cold]] void fail_exchange(const Call& call, Communicator& comm, Circle& circle) {
  or_no_memory([&] {
    const Neighbours* const known = comm.neighbours();
    if (known == nullptr) return MPI_SUCCESS;
    const auto neighbours = known->view(Form::alltoall, call.form == CallForm::blocking);
    MessageDescriptor word;
    word.circle = &circle;
    for (const std::uint32_t from : neighbours.sources) {
      if (from == Neighbourhood::kNobody) continue;
      messages::route_receive(static_cast<std::int32_t>(from), p2p::kAnyTag, word);
      word.envelope.context |= Circle::kCollective;
      leave_behind(endpoint()->receive(word.envelope, word.buffer), circle);
    }
    for (const std::uint32_t to : neighbours.destinations) {
      if (to == Neighbourhood::kNobody) continue;
      messages::route_send(static_cast<std::int32_t>(to), kNotStarted, p2p::Mode::standard, word);
      word.envelope.context |= Circle::kCollective;
      if (p2p::Request* const open = open_send(word)) leave_behind(*open, circle);
    }
    expect_messages();
    return MPI_SUCCESS;
  });
}

}  // namespace

MessageExchange::MessageExchange(Circle& circle, const Reading& reading) : circle_(circle) {
  const auto& [destinations, sources, order] = reading.neighbours;
  messages_.reserve(destinations.size() + sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t s = order.empty() ? i : order[i];
    if (sources[s] == Neighbourhood::kNobody) continue;
    MessageDescriptor& message = messages_.emplace_back();
    message.circle = &circle;
    messages::route_receive(static_cast<std::int32_t>(sources[s]), p2p::kAnyTag, message);
    describe_block(reading.recv, s, message);
  }
  for (std::size_t d = 0; d < destinations.size(); ++d) {
    if (destinations[d] == Neighbourhood::kNobody) continue;
    MessageDescriptor& message = messages_.emplace_back();
    message.circle = &circle;
    messages::route_send(static_cast<std::int32_t>(destinations[d]), kPayload, p2p::Mode::standard, message);
    describe_block(reading.send, d, message);
  }
  open_.resize(messages_.size());
  circle_.retain();
}

MessageExchange::~MessageExchange() {
  for (p2p::Request* const one : open_) {
    if (one != nullptr) endpoint()->release(*one);
  }
  circle_.release();
}

void MessageExchange::begin() {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const MessageDescriptor& message = messages_[i];
    open_[i] = message.is_send() ? open_send(message) : &endpoint()->receive(message.envelope, message.buffer);
  }
  expect_messages();
}

bool MessageExchange::done() const {
  return std::ranges::all_of(open_, [](const p2p::Request* one) { return one == nullptr || one->done(); });
}

void MessageExchange::wait() {
  for (p2p::Request* const one : open_) {
    if (one != nullptr) endpoint()->wait(*one);
  }
}

int MessageExchange::error() const {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    // Of a send that was set aside nobody will know more.
    if (open_[i] == nullptr || !open_[i]->finished.load(std::memory_order_acquire)) continue;
    if (const int code = code_of(open_[i]->result); code != MPI_SUCCESS) return code;
    if (!messages_[i].is_send() && open_[i]->result.tag == kNotStarted) return MPI_ERR_OTHER;
  }
  return MPI_SUCCESS;
}

void MessageExchange::leave(std::unique_ptr<NeighbourExchange> /*own*/, std::vector<const Datatype*> types) {
  for (p2p::Request*& one : open_) {
    if (one == nullptr || one->done()) continue;
    retain(one->buffer);
    leave_behind(*std::exchange(one, nullptr), circle_);
  }
  for (const Datatype* const type : types) type->release();
}

bool may_be_message_exchange(const Call& call) {
  return call.operation == collectives::Operation::neighbor_alltoallv && endpoint() != nullptr &&
         options().exchange_messages;
}

bool exchanged(const Call& call, MPI_Request* request_out, int* code) {
  Circle* const circle = circle_of(call.comm);
  Communicator* const comm = circle != nullptr ? communicator(call.comm) : nullptr;
  if (comm == nullptr) return false;
  observe::Observer* const observer = process().observer();
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
  if (made != nullptr) *code = prepare_exchange(call, reading, *comm, *circle, *made);
  if (*code != MPI_SUCCESS) {
    if (made != nullptr) destroy_request(made);
    fail_exchange(call, *comm, *circle);
    complain(comm, *code);
    return true;
  }
  Request& request = *made;
  if (observer != nullptr) request.observed.started(begin);
  request.active = true;
  request.exchange->begin();
  if (observer != nullptr) {  // a blocking call is nothing but waiting: it has no start and no gap
    request.observed.returned(blocking ? begin : call_end(), profiled);
    request.call_site = site_of(*observer, call, reading);
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
