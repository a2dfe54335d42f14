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

// True: Urakata performs the call, and `code` and `request` are its result (persistent forms: prepared, not started).
// False: nothing was done; it is the MPI library's. The decision rests on facts that are equal on all ranks, or on
// arguments that the MPI library will refuse.
bool handled(const Call& call, MPI_Request* request, int* code);

// The parts of a start, for all forms.

// The communicator of a call to be handled, with its collective prepared and what was read of it. nullptr: it is
// the MPI library's, as with handled(). Without a prepared collective: there is no memory for it here, and other ranks
// may have it, so the start is to fail.
Communicator* accept(const Call& call, Reading& reading, Prepared*& prepared);

// part_for() where there is such a part.
Communicator& part_by_kernel(const Reading& reading, const Prepared& prepared, Communicator& comm, Communicator& part);
// The part of the communicator whose operation a prepared call is: itself, or the part that the kernel runs.
// (Persistent collectives, which may start in another order on each rank, are never the kernel's.)
inline Communicator& part_for(const Reading& reading, const Prepared& prepared, Communicator& comm) {
  Communicator* const part = comm.by_kernel();
  return part != nullptr ? part_by_kernel(reading, prepared, comm, *part) : comm;
}

// Gives a request with nothing in it an instance of `prepared` on `comm`, whose reference it takes over.
void give_run(Request& request, Prepared& prepared, Communicator& comm);
// The same, and binds its buffers. The result is an MPI error code; no handler has been called, and the request holds
// what it was given.
int bind(const Call& call, Reading& reading, Prepared& prepared, Communicator& comm, Request& request);
// Readies an instance for its engine, after which the request is active. The result is an MPI error code; after an
// error the other ranks have been told (fail_start()).
int make_ready(Request& request);
// Where a call is that goes this way, for a report.
observe::CallSite* call_site(observe::Observer& observer, const Call& call, std::uint64_t bytes,
                             std::string_view engine, std::string_view algorithm, std::string_view why);
// The same of an operation's instance.
observe::CallSite* call_site(observe::Observer& observer, const Call& call, const Reading& reading,
                             const Prepared& prepared, const Communicator& comm);

// An operation that cannot be started here may have been started by the other ranks: it takes its turn as an instance
// that nobody waits for, which ends with the error and has all of the communicator told. Takes over a reference to
// the communicator. The result is `code`; the error handler has been called.
[[gnu::cold]] int fail_start(Communicator& comm, int code);

// The same for one that was not prepared, so that it is not known whose it is on the other ranks: it ends for engine
// kernel's part, too.
[[gnu::cold]] int fail_unprepared(Communicator& comm, int code);

// Submits the instance of a request whose buffers are bound. `begin` is the time of the call for the report, or 0.
int submit(Request& request, std::uint64_t begin);

// Starts many of them: what one engine runs is handed to it together. Does not allocate once as many have been started
// before. By one thread.
class StartList {
 public:
  // The request is active from here on, as if it were started. After an error it is not started.
  int add(Request& request);
  // Starts what was added, in that order.
  void start();

 private:
  void note_begin();
  void note_returned();

  std::uint64_t begin_ = 0;  // for a report: when that of what one engine runs began
  std::vector<Request*> requests_;
  std::vector<engine::Instance*> instances_;  // of one engine
};

// A collective that Urakata does not handle here and the MPI library does not have: an MPI error on the communicator.
int missing(MPI_Comm comm, const char* name);

}  // namespace urakata::shim
