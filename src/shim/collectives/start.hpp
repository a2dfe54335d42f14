// SPDX-License-Identifier: BSD-3-Clause
// Starting a collective: from the arguments of MPI_Iallgather and its kin to a submitted instance.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "observe/observer.hpp"
#include "shim/collectives/call.hpp"
#include "shim/collectives/call_reading.hpp"
#include "shim/native/abi.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

// True: Urakata handles the call, and `*code` and `*request` are its result (persistent forms: prepared, not started).
// False: the call falls back. The decision rests on facts that are equal on all ranks, or on arguments that the MPI
// library will refuse.
bool handled(const Call& call, MPI_Request* request, int* code);

// The parts of a start, for all forms.

// Reads a call and prepares its collective. Returns our record of the communicator. nullptr: the call falls back. If
// only `prepared` stays nullptr, this rank has no memory for the collective. Other ranks may have it, so the caller
// must fail the start (fail_unprepared(), fail_start()).
Communicator* accept(const Call& call, Reading& reading, Prepared*& prepared);

// part_for() for a communicator with a kernel part `part`.
Communicator& part_by_kernel(const Reading& reading, const Prepared& prepared, Communicator& comm, Communicator& part);
// What runs a prepared call: the communicator itself, or its kernel part (Communicator::by_kernel()).
// (The kernel runs no persistent collectives, since these may start in another order on each rank.)
inline Communicator& part_for(const Reading& reading, const Prepared& prepared, Communicator& comm) {
  Communicator* const part = comm.by_kernel();
  return part != nullptr ? part_by_kernel(reading, prepared, comm, *part) : comm;
}

// Gives an empty request an instance of `prepared` on `comm`. The request takes over a reference to `comm`.
void give_run(Request& request, Prepared& prepared, Communicator& comm);
// give_run(), and binds the call's buffers. The result is an MPI error code; no error handler has been called. After an
// error the request holds what it was given.
int bind(const Call& call, Reading& reading, Prepared& prepared, Communicator& comm, Request& request);
// Makes an instance ready for its engine; the request is then active. The result is an MPI error code. After an error
// the other ranks have been told, and the error handler has been called (fail_start()).
int make_ready(Request& request);
// The report's record of a call site, for calls with this engine and algorithm.
observe::CallSite* call_site(observe::Observer& observer, const Call& call, std::uint64_t bytes,
                             std::string_view engine, std::string_view algorithm, std::string_view why);
// The same for a call that runs as an instance of a schedule.
observe::CallSite* call_site(observe::Observer& observer, const Call& call, const Reading& reading,
                             const Prepared& prepared, const Communicator& comm);

// Fails an operation that cannot start on this rank. Other ranks may have started it, so it takes its turn as an
// instance that no caller waits for. This instance ends with the error, and all ranks of the communicator are told.
// Takes over a reference to the communicator. Returns `code`; the error handler has been called.
[[gnu::cold]] int fail_start(Communicator& comm, int code);

// The same for an operation that was not prepared. It is then not known whether the kernel runs it on the other ranks,
// so it fails on the communicator and on its kernel part.
[[gnu::cold]] int fail_unprepared(Communicator& comm, int code);

// make_ready(), and starts the instance of a request whose buffers are bound. `begin`: the time of the call for the
// report, or 0. The result is as that of make_ready().
int submit(Request& request, std::uint64_t begin);

// Starts several persistent collectives. Each engine gets all that it runs in one call. Does not allocate if as many
// have been started before. By one thread.
class StartList {
 public:
  // The request is active from here on, as if it were started. After an error (as of make_ready()) it is not.
  int add(Request& request);
  // Starts what was added: engine by engine, for each engine in the order of add().
  void start();

 private:
  void note_begin();
  void note_returned();

  std::uint64_t begin_ = 0;  // for a report: when the starts of the present engine began
  std::vector<Request*> requests_;
  std::vector<engine::Instance*> instances_;  // of one engine
};

// For a collective that Urakata does not handle in this call and the MPI library lacks. Calls the communicator's error
// handler with MPI_ERR_UNSUPPORTED_OPERATION, which is the result.
int missing(MPI_Comm comm, const char* name);

}  // namespace urakata::shim
