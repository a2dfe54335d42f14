// MPI_Wait, MPI_Test and their kin, over arrays that mix our requests with the host's.
//
// Where none of the requests is ours the call passes at once. Otherwise ours are looked at here, and the host gets a
// copy of the array in which ours are MPI_REQUEST_NULL.
#include <algorithm>
#include <vector>

#include "base/clock.hpp"
#include "base/waiting.hpp"
#include "shim/host.hpp"
#include "shim/process.hpp"
#include "shim/request.hpp"
#include "shim/space.hpp"
#include "shim/start.hpp"

namespace urakata::shim {
namespace {

thread_local std::vector<MPI_Request> theirs;

void need_host() {
  if (!host.found) find_host();
}

bool any_ours(int count, const MPI_Request* requests) {
  if (requests == nullptr) return false;
  for (int i = 0; i < count; ++i) {
    if (is_ours(requests[i])) return true;
  }
  return false;
}

// The array as the host may see it.
MPI_Request* without_ours(int count, const MPI_Request* requests) {
  theirs.assign(requests, requests + count);
  for (MPI_Request& request : theirs) {
    if (is_ours(request)) request = MPI_REQUEST_NULL;
  }
  return theirs.data();
}

// What the host did to its requests goes back to the program's array; ours stay as they are there.
void put_back(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) requests[i] = theirs[static_cast<std::size_t>(i)];
  }
}

// As the standard says for null and inactive requests, and for collectives: the host's own empty status.
void empty_status(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  MPI_Request none = MPI_REQUEST_NULL;
  host.Wait(&none, status);
}

int complain(Communicator* communicator_of, int code) {
  MPI_Comm comm = communicator_of != nullptr ? communicator_of->handle() : MPI_COMM_WORLD;
  host.Comm_call_errhandler(comm, code);
  return code;
}

// A handle in our range that is not in use: the program waits twice, or for a freed request.
int stale() { return complain(nullptr, MPI_ERR_REQUEST); }

// A request that is finished: reports, gives it back (or makes it inactive), sets handle and status.
int complete_message(Request& request, MPI_Request* handle, MPI_Status* status) {
  const MPI_Comm comm = request.message.letter.channel->handle;
  const int code = finish_message(request, status);
  request.active = false;
  if (!request.persistent) {
    destroy_request(&request);
    *handle = MPI_REQUEST_NULL;
  }
  if (code != MPI_SUCCESS) host.Comm_call_errhandler(comm, code);
  return code;
}

int complete(Request& request, MPI_Request* handle, MPI_Status* status, std::uint64_t begin) {
  if (request.is_message()) return complete_message(request, handle, status);
  int code = MPI_SUCCESS;
  if (request.active) {
    code = request.run->error;
    if (request.site != nullptr) {
      const std::uint64_t end = now_ns();
      request.passage.finished(begin, end);
      if (observe::Track* track = process().observer()->caller()) {
        track->add(observe::EventKind::wait, begin, end, request.site->number());
      }
    }
    request.active = false;
  }
  empty_status(status);
  Communicator* communicator_of = request.communicator;
  if (code != MPI_SUCCESS) complain(communicator_of, code);
  if (!request.persistent) {
    destroy_request(&request);
    *handle = MPI_REQUEST_NULL;
  }
  return code;
}

std::uint64_t observed_now() { return process().observer() != nullptr ? now_ns() : 0; }

// Drives the engines until `done` says so.
class Waiting {
 public:
  explicit Waiting(engine::Engine* engine) : engine_(engine), ladder_(process().oversubscribed()) {
    if (engine_ != nullptr) engine_->enter();
  }
  ~Waiting() {
    if (engine_ != nullptr) engine_->leave();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  void step() {
    if (process().step_all(engine::Domain::kWaitBytes)) {
      ladder_.restart();
      idle_ = 0;
    } else if (++idle_ < kIdle || !process().sleep()) {
      give_way();
    }
  }

 private:
  // Steps without news until sleeping is worth its 5 us: a message that is already on the way arrives meanwhile.
  static constexpr unsigned kIdle = 50;

  // Open MPI gives its core away inside each poll when it knows that there are more ranks than cores, and never where
  // each rank has one; doing it again after each poll would halve the chances to see a message. MPICH leaves it to us.
  void give_way() {
#if defined(URAKATA_ABI_OPENMPI)
    constexpr unsigned kHostSteps = 16;
    if (process().oversubscribed() && idle_ % kHostSteps == 0) ladder_.step();
#else
    ladder_.step();
#endif
  }

  engine::Engine* engine_;
  Ladder ladder_;
  unsigned idle_ = 0;
};

void wait_for(Request& request) {
  if (request.finished()) return;
  if (request.is_message()) {
    wait_for_message(request);
    return;
  }
  Waiting waiting(request.communicator->engine);
  while (!request.run->finished()) waiting.step();
}

// The engine of the first of our collectives; nearly always that of all.
engine::Engine* engine_of(int count, const MPI_Request* requests) {
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    const Request* request = find_request(requests[i]);
    if (request != nullptr && !request->is_message()) return request->communicator->engine;
  }
  return nullptr;
}

// Are there requests in the copy that the host could complete?
bool host_has_some() {
  return std::any_of(theirs.begin(), theirs.end(), [](MPI_Request r) { return r != MPI_REQUEST_NULL; });
}

MPI_Status* at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

void step_once(Request& request, std::uint64_t begin) {
  process().step_all();
  if (request.site != nullptr && !request.finished()) request.passage.tested(begin, now_ns());
}

int wait_one(MPI_Request* handle, MPI_Status* status) {
  Request* request = find_request(*handle);
  if (request == nullptr) return stale();
  const std::uint64_t begin = observed_now();
  wait_for(*request);
  return complete(*request, handle, status, begin);
}

int test_one(MPI_Request* handle, int* flag, MPI_Status* status) {
  Request* request = find_request(*handle);
  if (request == nullptr) return stale();
  const std::uint64_t begin = observed_now();
  if (!request->finished()) step_once(*request, begin);
  *flag = request->finished() ? 1 : 0;
  return *flag != 0 ? complete(*request, handle, status, begin) : MPI_SUCCESS;
}

int wait_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  const std::uint64_t begin = observed_now();
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    Request* request = find_request(requests[i]);
    if (request == nullptr) return stale();
    wait_for(*request);
  }
  const int code = host.Waitall(count, without_ours(count, requests), statuses);
  put_back(count, requests);
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    const int own = complete(*find_request(requests[i]), requests + i, at(statuses, i), begin);
    if (own != MPI_SUCCESS) {
      failed = true;
      if (statuses != MPI_STATUSES_IGNORE) statuses[i].MPI_ERROR = own;
    } else if (statuses != MPI_STATUSES_IGNORE && code == MPI_ERR_IN_STATUS) {
      statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
  }
  return failed ? MPI_ERR_IN_STATUS : code;
}

int test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  const std::uint64_t begin = observed_now();
  process().step_all();
  *flag = 0;
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    Request* request = find_request(requests[i]);
    if (request == nullptr) return stale();
    if (!request->finished()) {
      if (request->site != nullptr) request->passage.tested(begin, now_ns());
      return MPI_SUCCESS;
    }
  }
  const int code = host.Testall(count, without_ours(count, requests), flag, statuses);
  put_back(count, requests);
  if (code != MPI_SUCCESS || *flag == 0) return code;
  int worst = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    const int own = complete(*find_request(requests[i]), requests + i, at(statuses, i), begin);
    if (own != MPI_SUCCESS) {
      worst = MPI_ERR_IN_STATUS;
      if (statuses != MPI_STATUSES_IGNORE) statuses[i].MPI_ERROR = own;
    }
  }
  return worst;
}

// One look at all requests. The index of one that was completed, or MPI_UNDEFINED; `none_active`: there is nothing to
// wait for.
int test_any_once(int count, MPI_Request* requests, int* index, bool* none_active, MPI_Status* status,
                  std::uint64_t begin) {
  *index = MPI_UNDEFINED;
  *none_active = false;
  bool ours_active = false;
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    Request* request = find_request(requests[i]);
    if (request == nullptr) return stale();
    if (!request->active) continue;
    ours_active = true;
    if (request->finished()) {
      *index = i;
      return complete(*request, requests + i, status, begin);
    }
  }
  without_ours(count, requests);
  int flag = 1;
  int found = MPI_UNDEFINED;
  int code = MPI_SUCCESS;
  if (host_has_some()) {
    code = host.Testany(count, theirs.data(), &found, &flag, status);
    put_back(count, requests);
  }
  if (found != MPI_UNDEFINED) {
    *index = found;
  } else if (flag != 0 && !ours_active) {
    *none_active = true;
    empty_status(status);
  }
  return code;
}

int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  const std::uint64_t begin = observed_now();
  Waiting waiting(engine_of(count, requests));
  for (;;) {
    bool none = false;
    const int code = test_any_once(count, requests, index, &none, status, begin);
    if (code != MPI_SUCCESS || none || *index != MPI_UNDEFINED) return code;
    waiting.step();
  }
}

// One look; *done as MPI_Testsome's outcount (MPI_UNDEFINED: nothing active).
int test_some(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses, std::uint64_t begin) {
  *done = 0;
  without_ours(count, requests);
  bool ours_active = false;
  int code = MPI_SUCCESS;
  int theirs_done = MPI_UNDEFINED;
  if (host_has_some()) {
    code = host.Testsome(count, theirs.data(), &theirs_done, indices, statuses);
    put_back(count, requests);
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return code;
    if (theirs_done != MPI_UNDEFINED) *done = theirs_done;
  }
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    Request* request = find_request(requests[i]);
    if (request == nullptr) return stale();
    if (!request->active) continue;
    ours_active = true;
    if (!request->finished()) continue;
    const int k = (*done)++;
    indices[k] = i;
    const int own = complete(*request, requests + i, at(statuses, k), begin);
    if (own != MPI_SUCCESS) {
      code = MPI_ERR_IN_STATUS;
      if (statuses != MPI_STATUSES_IGNORE) statuses[k].MPI_ERROR = own;
    }
  }
  if (!ours_active && theirs_done == MPI_UNDEFINED) *done = MPI_UNDEFINED;
  return code;
}

int wait_some(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  const std::uint64_t begin = observed_now();
  Waiting waiting(engine_of(count, requests));
  for (;;) {
    const int code = test_some(count, requests, done, indices, statuses, begin);
    if (code != MPI_SUCCESS || *done != 0) return code;
    waiting.step();
  }
}

int free_one(MPI_Request* handle) {
  Request* request = find_request(*handle);
  if (request == nullptr) return stale();
  *handle = MPI_REQUEST_NULL;
  if (request->is_message()) {
    abandon_message(*request);
  } else if (request->active) {
    // Still running: whoever finishes it gives it back.
    request->persistent = false;
    auto expected = engine::Instance::Outcome::running;
    if (request->run->outcome.compare_exchange_strong(expected, engine::Instance::Outcome::abandoned,
                                                      std::memory_order_acq_rel)) {
      return MPI_SUCCESS;
    }
  }
  destroy_request(request);
  return MPI_SUCCESS;
}

int status_of(MPI_Request handle, int* flag, MPI_Status* status) {
  Request* request = find_request(handle);
  if (request == nullptr) return stale();
  if (!request->finished()) process().step_all();
  *flag = request->finished() ? 1 : 0;
  if (*flag != 0 && request->is_message()) {
    message_status(*request, status);
  } else if (*flag != 0) {
    empty_status(status);
  }
  return MPI_SUCCESS;
}

int start_one(MPI_Request* handle) {
  Request* request = find_request(*handle);
  if (request == nullptr) return stale();
  if (!request->persistent || request->active || request->message.matched != nullptr) {
    return complain(request->communicator, MPI_ERR_REQUEST);
  }
  if (!request->is_message()) return start_again(*request);
  start_message(*request);
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace urakata::shim

#define URAKATA_ALIAS(name) __attribute__((alias(#name), visibility("default")))

extern "C" {

using namespace urakata::shim;

URAKATA_EXPORT int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  need_host();
  if (request == nullptr || !is_ours(*request)) return host.Wait(request, status);
  return wait_one(request, status);
}

URAKATA_EXPORT int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  need_host();
  if (request == nullptr || !is_ours(*request)) return host.Test(request, flag, status);
  return test_one(request, flag, status);
}

URAKATA_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  need_host();
  if (!any_ours(count, requests)) return host.Waitall(count, requests, statuses);
  return wait_all(count, requests, statuses);
}

URAKATA_EXPORT int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  need_host();
  if (!any_ours(count, requests)) return host.Testall(count, requests, flag, statuses);
  return test_all(count, requests, flag, statuses);
}

URAKATA_EXPORT int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  need_host();
  if (!any_ours(count, requests)) return host.Waitany(count, requests, index, status);
  return wait_any(count, requests, index, status);
}

URAKATA_EXPORT int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  need_host();
  if (!any_ours(count, requests)) return host.Testany(count, requests, index, flag, status);
  const std::uint64_t begin = observed_now();
  process().step_all();
  bool none = false;
  const int code = test_any_once(count, requests, index, &none, status, begin);
  *flag = none || *index != MPI_UNDEFINED ? 1 : 0;
  return code;
}

URAKATA_EXPORT int MPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  need_host();
  if (!any_ours(count, requests)) return host.Waitsome(count, requests, done, indices, statuses);
  return wait_some(count, requests, done, indices, statuses);
}

URAKATA_EXPORT int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  need_host();
  if (!any_ours(count, requests)) return host.Testsome(count, requests, done, indices, statuses);
  const std::uint64_t begin = observed_now();
  process().step_all();
  return test_some(count, requests, done, indices, statuses, begin);
}

URAKATA_EXPORT int MPI_Request_free(MPI_Request* request) {
  need_host();
  if (request == nullptr || !is_ours(*request)) return host.Request_free(request);
  return free_one(request);
}

URAKATA_EXPORT int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  need_host();
  if (!is_ours(request)) return host.Request_get_status(request, flag, status);
  return status_of(request, flag, status);
}

URAKATA_EXPORT int MPI_Cancel(MPI_Request* request) {
  need_host();
  if (request == nullptr || !is_ours(*request)) return host.Cancel(request);
  Request* ours = find_request(*request);
  if (ours != nullptr && ours->is_message() && ours->active) {
    cancel_message(*ours);
    return MPI_SUCCESS;
  }
  return complain(ours != nullptr ? ours->communicator : nullptr,
                  MPI_ERR_REQUEST);  // MPI: collectives cannot be cancelled
}

URAKATA_EXPORT int MPI_Start(MPI_Request* request) {
  need_host();
  if (request == nullptr || !is_ours(*request)) return host.Start(request);
  return start_one(request);
}

URAKATA_EXPORT int MPI_Startall(int count, MPI_Request requests[]) {
  need_host();
  if (!any_ours(count, requests)) return host.Startall(count, requests);
  for (int i = 0; i < count; ++i) {
    const int code = is_ours(requests[i]) ? start_one(requests + i) : host.Start(requests + i);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

#if defined(URAKATA_STATUS_QUERIES)
URAKATA_EXPORT int MPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag,
                                              MPI_Status statuses[]) {
  need_host();
  if (!any_ours(count, requests)) return host.Request_get_status_all(count, requests, flag, statuses);
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    const int code = status_of(requests[i], flag, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || *flag == 0) return code;
  }
  const int code = host.Request_get_status_all(count, without_ours(count, requests), flag, statuses);
  if (code == MPI_SUCCESS && *flag != 0) {
    for (int i = 0; i < count; ++i) {
      if (is_ours(requests[i])) empty_status(at(statuses, i));
    }
  }
  return code;
}

URAKATA_EXPORT int MPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                                              MPI_Status* status) {
  need_host();
  if (!any_ours(count, requests)) return host.Request_get_status_any(count, requests, index, flag, status);
  bool waiting = false;
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    const Request* request = find_request(requests[i]);
    if (request == nullptr) return stale();
    if (!request->active) continue;
    const int code = status_of(requests[i], flag, status);
    if (code != MPI_SUCCESS || *flag != 0) {
      *index = i;
      return code;
    }
    waiting = true;
  }
  const int code = host.Request_get_status_any(count, without_ours(count, requests), index, flag, status);
  if (code == MPI_SUCCESS && *flag != 0 && *index == MPI_UNDEFINED && waiting) *flag = 0;
  return code;
}

URAKATA_EXPORT int MPI_Request_get_status_some(int count, const MPI_Request requests[], int* done, int indices[],
                                               MPI_Status statuses[]) {
  need_host();
  if (!any_ours(count, requests)) return host.Request_get_status_some(count, requests, done, indices, statuses);
  int code = host.Request_get_status_some(count, without_ours(count, requests), done, indices, statuses);
  const bool none_theirs = *done == MPI_UNDEFINED;
  if (none_theirs) *done = 0;
  bool active = false;
  for (int i = 0; i < count && code == MPI_SUCCESS; ++i) {
    if (!is_ours(requests[i])) continue;
    const Request* request = find_request(requests[i]);
    if (request == nullptr) return stale();
    if (!request->active) continue;
    active = true;
    int flag = 0;
    code = status_of(requests[i], &flag, at(statuses, *done));
    if (flag != 0) indices[(*done)++] = i;
  }
  if (none_theirs && !active) *done = MPI_UNDEFINED;
  return code;
}

int PMPI_Request_get_status_all(int, const MPI_Request[], int*, MPI_Status[]) URAKATA_ALIAS(MPI_Request_get_status_all);
int PMPI_Request_get_status_any(int, const MPI_Request[], int*, int*, MPI_Status*)
    URAKATA_ALIAS(MPI_Request_get_status_any);
int PMPI_Request_get_status_some(int, const MPI_Request[], int*, int[], MPI_Status[])
    URAKATA_ALIAS(MPI_Request_get_status_some);
#endif

int PMPI_Wait(MPI_Request*, MPI_Status*) URAKATA_ALIAS(MPI_Wait);
int PMPI_Test(MPI_Request*, int*, MPI_Status*) URAKATA_ALIAS(MPI_Test);
int PMPI_Waitall(int, MPI_Request[], MPI_Status[]) URAKATA_ALIAS(MPI_Waitall);
int PMPI_Testall(int, MPI_Request[], int*, MPI_Status[]) URAKATA_ALIAS(MPI_Testall);
int PMPI_Waitany(int, MPI_Request[], int*, MPI_Status*) URAKATA_ALIAS(MPI_Waitany);
int PMPI_Testany(int, MPI_Request[], int*, int*, MPI_Status*) URAKATA_ALIAS(MPI_Testany);
int PMPI_Waitsome(int, MPI_Request[], int*, int[], MPI_Status[]) URAKATA_ALIAS(MPI_Waitsome);
int PMPI_Testsome(int, MPI_Request[], int*, int[], MPI_Status[]) URAKATA_ALIAS(MPI_Testsome);
int PMPI_Request_free(MPI_Request*) URAKATA_ALIAS(MPI_Request_free);
int PMPI_Request_get_status(MPI_Request, int*, MPI_Status*) URAKATA_ALIAS(MPI_Request_get_status);
int PMPI_Cancel(MPI_Request*) URAKATA_ALIAS(MPI_Cancel);
int PMPI_Start(MPI_Request*) URAKATA_ALIAS(MPI_Start);
int PMPI_Startall(int, MPI_Request[]) URAKATA_ALIAS(MPI_Startall);

// Fortran's integers. Open MPI's Fortran wrappers convert each request; MPICH's use the integer itself.
#if defined(URAKATA_ABI_OPENMPI)
URAKATA_EXPORT MPI_Fint MPI_Request_c2f(MPI_Request request) {
  need_host();
  if (!is_ours(request)) return host.Request_c2f(request);
  const Request* ours = find_request(request);
  return ours != nullptr ? kFortranBase + static_cast<MPI_Fint>(ours->index) : host.Request_c2f(MPI_REQUEST_NULL);
}
URAKATA_EXPORT MPI_Request MPI_Request_f2c(MPI_Fint integer) {
  need_host();
  return is_fortran_of_ours(integer) ? request_of_fortran(integer) : host.Request_f2c(integer);
}
MPI_Fint PMPI_Request_c2f(MPI_Request) URAKATA_ALIAS(MPI_Request_c2f);
MPI_Request PMPI_Request_f2c(MPI_Fint) URAKATA_ALIAS(MPI_Request_f2c);
#elif defined(URAKATA_ABI_STANDARD)
URAKATA_EXPORT int MPI_Request_toint(MPI_Request request) {
  need_host();
  if (!is_ours(request)) return host.Request_toint(request);
  const Request* ours = find_request(request);
  return ours != nullptr ? kFortranBase + static_cast<int>(ours->index) : host.Request_toint(MPI_REQUEST_NULL);
}
URAKATA_EXPORT MPI_Request MPI_Request_fromint(int integer) {
  need_host();
  return is_fortran_of_ours(integer) ? request_of_fortran(integer) : host.Request_fromint(integer);
}
int PMPI_Request_toint(MPI_Request) URAKATA_ALIAS(MPI_Request_toint);
MPI_Request PMPI_Request_fromint(int) URAKATA_ALIAS(MPI_Request_fromint);
#endif

}  // extern "C"
