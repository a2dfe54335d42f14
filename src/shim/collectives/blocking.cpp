// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/blocking.hpp"

#include "base/options/options.hpp"
#include "observe/observer.hpp"
#include "shim/collectives/call_request.hpp"
#include "shim/collectives/direct_calls.hpp"
#include "shim/collectives/message_exchange.hpp"
#include "shim/collectives/start.hpp"
#include "shim/communicators/prepared.hpp"
#include "shim/completion/completion.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/profiled.hpp"
#include "shim/progress/engine_wait.hpp"
#include "shim/requests/staging.hpp"
#include "shim/sites/between_sites.hpp"
#include "tune/decision.hpp"

namespace urakata::shim {

namespace {

bool is_exchange(collectives::Operation operation) {
  return operation == collectives::Operation::alltoall || operation == collectives::Operation::alltoallv;
}

// Whether a schedule for ranks of several sites takes each byte across their links once.
bool crosses_once(collectives::Operation operation) {
  using collectives::Operation;
  return operation != Operation::reduce_scatter && operation != Operation::reduce_scatter_block &&
         operation != Operation::scan && operation != Operation::exscan;
}

bool among_neighbours(const Call& call) { return call.operation == collectives::Operation::neighbor_alltoallv; }

// Whether Urakata may handle such a blocking collective on any communicator. If not, none is looked up: communicator()
// registers the progress hook, which slows down each wait in the MPI library.
bool any_of(const Call& call) {
  if (among_neighbours(call)) {
    const NeighborhoodWish wish = options().neighborhood;
    return wish == NeighborhoodWish::always || (wish == NeighborhoodWish::automatic && job_setup().wire() != nullptr);
  }
  if (options().blocking != BlockingWish::automatic) return options().blocking == BlockingWish::always;
  return job_setup().sites().count > 1;
}

bool ours(const Communicator& comm, const Call& call) {
  if (among_neighbours(call))
    return options().neighborhood == NeighborhoodWish::always || tune::blocking_pays(comm.medium());
  if (options().blocking == BlockingWish::always) return true;
  if (comm.placement() == nullptr || !crosses_once(call.operation)) return false;
  return !is_exchange(call.operation) || exchange_gains_between_sites(*comm.placement());
}

}  // namespace

bool performed(const Call& call, int* code) {
  const bool by_direct = may_be_direct(call);
  const bool by_messages = may_be_message_exchange(call);
  const bool by_schedule = any_of(call);
  if (!process_state.running || process_state.native_only || !(by_direct || by_messages || by_schedule) ||
      inside_native(call.call_site))
    return false;
  if (by_direct && performed_directly(call, code)) return true;
  if (by_messages && exchanged(call, nullptr, code)) return true;
  Communicator* const comm = by_schedule ? communicator(call.comm) : nullptr;
  if (comm == nullptr || !ours(*comm, call)) return false;
  observe::Observer* const observer = process_state.observer;
  const std::uint64_t begin = observer != nullptr ? call_begin() : 0;
  Reading reading;
  Prepared* prepared = nullptr;
  if (accept(call, reading, prepared) == nullptr) return false;
  if (prepared == nullptr) {
    comm->retain();
    *code = fail_unprepared(*comm, MPI_ERR_NO_MEM);
    return true;
  }
  Communicator& part = part_for(reading, *prepared, *comm);
  part.retain();
  CallRequest made;
  Request& request = *made;
  if (const int failure = bind(call, reading, *prepared, part, request); failure != MPI_SUCCESS) {
    part.retain();
    *code = fail_start(part, failure);
    return true;
  }
  if (observer != nullptr) {  // all of the call is waiting: it has no start and no gap
    request.observed.started(begin);
    request.observed.returned(begin, profiled);
  }
  *code = make_ready(request);
  if (*code != MPI_SUCCESS) return true;
  engine::Engine* const engine = part.engine;
  if (observer == nullptr) {
    engine->start_awaited(*request.run);
  } else {  // after the start, as in handled(): a progress thread goes on meanwhile
    engine->start(*request.run);
    request.call_site = call_site(*observer, call, reading, *prepared, part);
    request.observed.at(request.call_site);
  }
  {
    Waiting waiting(engine, observer == nullptr);
    while (!request.run->finished()) waiting.step();
  }
  Failure failure;
  conclude(request, MPI_STATUS_IGNORE, begin, failure);
  *code = failure.tell();
  return true;
}

}  // namespace urakata::shim
