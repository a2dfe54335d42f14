// The functions of urakata.h.
#include "shim/abi.hpp"
#include "shim/communicator.hpp"
#include "shim/prepared.hpp"
#include "shim/process.hpp"
#include "shim/start_meter.hpp"
#include "shim/user_error.hpp"
#include "urakata.h"

extern "C" {

int ura_engine(MPI_Comm comm, const char* engine) {
  if (engine == nullptr) return MPI_ERR_ARG;
  bool pending = false;
  const auto chosen = urakata::shim::choose_engine(comm, engine, &pending);
  if (chosen.ok()) return MPI_SUCCESS;
  return urakata::shim::user_error("ura_engine", pending ? MPI_ERR_PENDING : MPI_ERR_ARG, chosen.error().message);
}

unsigned long long ura_allocations() { return urakata::shim::allocations(); }

int ura_start_cost(double* own_ns, unsigned long long* starts) {
  if (!urakata::shim::process().measuring()) {
    return urakata::shim::user_error("ura_start_cost", MPI_ERR_OTHER,
                                     "nothing was measured; set URAKATA_MEASURE_START=1 before the program starts");
  }
  const auto cost = urakata::shim::start_cost();
  if (own_ns != nullptr) *own_ns = cost.own_ns;
  if (starts != nullptr) *starts = cost.starts;
  return MPI_SUCCESS;
}

}  // extern "C"
