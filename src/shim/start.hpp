// Starting a collective: from the arguments of MPI_Iallgather and its kin to a submitted instance.
#pragma once

#include <cstdint>

#include "collectives/collectives.hpp"
#include "shim/abi.hpp"
#include "shim/request.hpp"

namespace urakata::shim {

// An array of counts or displacements: of int, or of the wide type in the `_c` forms.
struct Numbers {
  const void* data = nullptr;
  bool wide = false;
  std::int64_t operator[](std::size_t i) const {
    return wide ? static_cast<const std::int64_t*>(data)[i] : static_cast<const int*>(data)[i];
  }
};

struct Buffer {
  const void* address = nullptr;
  std::int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Numbers counts;  // v- and w-forms
  Numbers displacements;
  const MPI_Datatype* types = nullptr;  // w-form; displacements are bytes then
};

// The arguments of all collectives in one form. What an operation does not have stays as it is here.
struct Call {
  collectives::Operation operation{};
  const char* name = "";  // "Iallgather", for the report
  const void* site = nullptr;
  bool persistent = false;
  Buffer send;
  Buffer recv;  // bcast's buffer too
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

// True: Urakata carries the call, and `code` and `request` are its result (persistent forms: prepared, not started).
// False: nothing was done; it is the host's. The decision rests on facts that are equal on all ranks, or on arguments
// that the host will refuse.
bool carried(const Call& call, MPI_Request* request, int* code);

// A request with an instance of `prepared` on `comm`, whose hold it takes over. Slots are still to be bound.
Request& make_request(Prepared& prepared, Communicator& comm);

// Submits the instance of a request whose slots are bound. `begin` is the time of the call for the report, or 0.
int submit(Request& request, std::uint64_t begin);

// Starts a prepared persistent request that is inactive.
int start_again(Request& request);

// A collective that Urakata does not carry here and the host does not have: an MPI error on the communicator.
int missing(MPI_Comm comm, const char* name);

// Median time in ns that starts spent outside the host's calls since it was asked last, and how many there were. See
// process().measuring().
struct StartCost {
  double own_ns = 0;
  std::uint64_t starts = 0;
};
StartCost start_cost();

}  // namespace urakata::shim
