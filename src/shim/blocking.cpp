#include "shim/blocking.hpp"

#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/options.hpp"
#include "shim/completion.hpp"
#include "shim/engine_wait.hpp"
#include "shim/host.hpp"
#include "shim/process.hpp"
#include "shim/start.hpp"
#include "tune/decision.hpp"

namespace urakata::shim {

namespace {

// What one of the table's requests would be. It has no handle, and ends with the call. Its list of types is the
// thread's, so that it need not be allocated for each call.
class CallRequest {
 public:
  CallRequest() { request_.types = std::exchange(types_, {}); }
  ~CallRequest() {
    clear_request(request_);
    types_ = std::move(request_.types);
  }
  CallRequest(const CallRequest&) = delete;
  CallRequest& operator=(const CallRequest&) = delete;

  Request& operator*() { return request_; }

 private:
  static thread_local std::vector<const Datatype*> types_;
  Request request_;
};
thread_local std::vector<const Datatype*> CallRequest::types_;

// Can a communicator's blocking collectives be ours? Where none can be no communicator is looked at, since that alone
// would have the host's waiting drive the engines.
bool any_of(const Process& here) {
  if (options().blocking == BlockingWish::automatic) return here.wire() != nullptr;
  return options().blocking == BlockingWish::always;
}

bool ours(const Communicator& comm) {
  return options().blocking == BlockingWish::always || tune::blocking_pays(comm.medium());
}

}  // namespace

bool performed(const Call& call, int* code) {
  Process& here = process();
  if (!here.running() || here.host_only() || !any_of(here) || inside_host(call.site)) return false;
  Communicator* const comm = communicator(call.comm);
  if (comm == nullptr || !ours(*comm)) return false;
  observe::Observer* const observer = here.observer();
  const std::uint64_t begin = observer != nullptr ? now_ns() : 0;
  Reading reading;
  Prepared* prepared = nullptr;
  if (accept(call, reading, prepared) == nullptr) return false;

  comm->retain();
  CallRequest made;
  Request& request = *made;
  give_run(request, *prepared, *comm);
  if (const int failure = bind(call, reading, request); failure != MPI_SUCCESS) {
    comm->retain();
    *code = fail_start(*prepared, *comm, failure);
    return true;
  }
  if (observer != nullptr) {  // all of the call is waiting: it has no start and no gap
    request.passage.started(begin);
    request.passage.returned(begin, 0);
  }
  *code = make_ready(request);
  if (*code != MPI_SUCCESS) return true;
  engine::Engine* const engine = comm->engine;
  engine->start_awaited(*request.run);
  if (observer != nullptr) {  // after the start, as in intercepted()
    request.call_site = call_site(*observer, call, reading, *prepared, *comm);
    request.passage.at(request.call_site);
    request.passage.entered(0);
  }
  {
    Waiting waiting(engine, true);
    while (!request.run->finished()) waiting.step();
  }
  Failure failure;
  conclude(request, MPI_STATUS_IGNORE, begin, failure);
  *code = failure.tell();
  return true;
}

}  // namespace urakata::shim
