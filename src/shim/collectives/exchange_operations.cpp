// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/exchange_operations.hpp"

#include <atomic>
#include <utility>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "shim/collectives/collective_operations.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/process/profiled.hpp"
#include "shim/process/space.hpp"
#include "shim/requests/neighbour_exchange.hpp"
#include "shim/requests/request.hpp"
#include "shim/requests/status.hpp"

namespace urakata::shim {

int ExchangeOperations::start(Request& request, StartList* /*together*/) const {
  const std::uint64_t begin = request.call_site != nullptr ? call_begin() : 0;
  if (begin != 0) request.observed.started(begin);
  request.active = true;
  request.exchange->begin();
  if (begin != 0) {
    request.observed.returned(now_ns(), profiled);
    request.observed.at(request.call_site);
  }
  return MPI_SUCCESS;
}

bool ExchangeOperations::done(const Request& request) const { return request.exchange->done(); }

void ExchangeOperations::wait(Request& request) const { request.exchange->wait(); }

bool ExchangeOperations::waits_at_endpoint(const Request& /*request*/) const { return endpoint() != nullptr; }

RequestResult ExchangeOperations::finish(Request& request, MPI_Status* status, std::uint64_t begin) const {
  if (request.active && request.call_site != nullptr) {
    const Communicator& comm = *request.communicator;
    const std::uint64_t number = request.exchange->number();
    const bool known = number != 0 && comm.contexts.size() == comm.ranks;
    request.observed.finished(
        begin, call_end(), profiled, {},
        {comm.world.front(), known ? comm.contexts.front() : -1, known ? number : 0, known ? comm.ranks : 0});
  }
  empty_status(status);
  return {request.active ? request.exchange->error() : MPI_SUCCESS};
}

void ExchangeOperations::peek(const Request& /*request*/, MPI_Status* status) const { empty_status(status); }

std::uint64_t ExchangeOperations::received(const Request& request) const {
  return request.exchange->error() == MPI_SUCCESS ? kAll : 0;
}

void ExchangeOperations::clear(Request& request) const {
  {
    const LockGuard guard(ending_lock);  // MPI_Comm_disconnect may look at the exchange
    request.exchange_comm.store(nullptr, std::memory_order_release);
  }
  if (request.exchange != nullptr) {
    NeighbourExchange::abandon(std::move(request.exchange), std::exchange(request.types, {}));
  }
  clear_collective(request);
}

EndpointComm* ExchangeOperations::endpoint_comm(const Request& request) const {
  return request.exchange->endpoint_comm();
}

}  // namespace urakata::shim
