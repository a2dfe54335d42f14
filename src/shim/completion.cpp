#include "shim/completion.hpp"

#include "base/clock.hpp"
#include "shim/host.hpp"
#include "shim/process.hpp"

namespace urakata::shim {

namespace {

int complete_message(Request& request, MPI_Request* handle, MPI_Status* status) {
  bool told = false;
  const int code = finish_message(request, status, &told);
  request.active = false;
  if (code != MPI_SUCCESS && !told) host.Comm_call_errhandler(request.message.letter.channel->handle, code);
  if (!request.persistent) {
    destroy_request(&request);
    *handle = MPI_REQUEST_NULL;
  }
  return code;
}

}  // namespace

int complete(Request& request, MPI_Request* handle, MPI_Status* status, std::uint64_t begin) {
  if (request.is_message()) return complete_message(request, handle, status);
  if (request.shared) {
    empty_status(status);
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
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

void empty_status(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  MPI_Request none = MPI_REQUEST_NULL;
  host.Wait(&none, status);
}

int complain(const Communicator* communicator_of, int code) {
  MPI_Comm comm = communicator_of != nullptr ? communicator_of->handle() : MPI_COMM_WORLD;
  host.Comm_call_errhandler(comm, code);
  return code;
}

std::uint64_t observed_now() { return process().observer() != nullptr ? now_ns() : 0; }

}  // namespace urakata::shim
