// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/collective_operations.hpp"

#include <atomic>
#include <utility>

#include "shim/collectives/start.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/communicators/prepared.hpp"
#include "shim/process/profiled.hpp"
#include "shim/progress/engine_wait.hpp"
#include "shim/requests/request.hpp"
#include "shim/requests/status.hpp"
#include "shim/types/datatype.hpp"

namespace urakata::shim {

int CollectiveOperations::start(Request& request, StartList* together) const {
  if (together != nullptr) return together->add(request);
  return submit(request, request.call_site != nullptr ? call_begin() : 0);
}

bool CollectiveOperations::done(const Request& request) const { return request.run->finished(); }

void CollectiveOperations::wait(Request& request) const {
  Waiting waiting(request.communicator->engine);
  while (!request.run->finished()) waiting.step();
}

RequestResult CollectiveOperations::finish(Request& request, MPI_Status* status, std::uint64_t begin) const {
  const Run& run = *request.run;
  if (request.active && request.call_site != nullptr) {
    const Communicator& comm = *request.communicator;
    const bool known = comm.contexts.size() == comm.ranks;
    request.observed.finished(
        begin, call_end(), profiled, {run.progress.all(), run.progress.computing()},
        {comm.world.front(), known ? comm.contexts.front() : -1, known ? run.sequence : 0, known ? comm.ranks : 0});
  }
  empty_status(status);
  return {request.active ? run.error : MPI_SUCCESS};
}

void CollectiveOperations::peek(const Request& /*request*/, MPI_Status* status) const { empty_status(status); }

std::uint64_t CollectiveOperations::received(const Request& request) const {
  return request.run->error == MPI_SUCCESS ? kAll : 0;
}

bool CollectiveOperations::abandon(Request& request) const {
  if (!request.active) return false;
  request.persistent = false;
  // If the instance is still running, the thread that finishes it destroys the request.
  auto expected = engine::Instance::Outcome::running;
  return request.run->outcome.compare_exchange_strong(expected, engine::Instance::Outcome::abandoned,
                                                      std::memory_order_acq_rel);
}

void CollectiveOperations::clear(Request& request) const {
  // Before the communicator is released, whose end may destroy the Prepared that the instance belongs to.
  if (request.run != nullptr) request.run->prepared.give(std::exchange(request.run, nullptr));
  clear_collective(request);
}

void clear_collective(Request& request) {
  for (const Datatype* type : request.types) type->release();
  request.types.clear();
  if (request.reducer) {
    request.reducer->operation->release();
    request.reducer.reset();
  }
  if (request.communicator != nullptr) std::exchange(request.communicator, nullptr)->release();
  request.call_site = nullptr;
}

}  // namespace urakata::shim
