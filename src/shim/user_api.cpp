// The functions of urakata.h.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "shim/abi.hpp"
#include "shim/communicator.hpp"
#include "shim/host_bootstrap.hpp"
#include "shim/operation.hpp"
#include "shim/prepared.hpp"
#include "shim/process.hpp"
#include "shim/start_meter.hpp"
#include "shim/user_error.hpp"
#include "urakata.h"
#include "xdp/frame.h"

namespace {

using urakata::shim::HostBootstrap;
using urakata::shim::UserOperation;

// What a rank wishes to call its operation; or that it cannot.
struct NameWish {
  std::array<char, sizeof(ura_xdp_ops::ura_xdp_own_op::name)> name{};
  bool possible = false;
  bool operator==(const NameWish&) const = default;
};

// The error's text; empty: all ranks have called the operation so.
std::string name_on_all(UserOperation* operation, std::string_view name) {
  NameWish own;
  std::string why;
  if (operation == nullptr) {
    why = "not an operation that MPI_Op_create made";
  } else if (name.empty() || name.size() >= own.name.size()) {
    why = "a name has 1 to " + std::to_string(own.name.size() - 1) + " characters";
  } else if (const auto before = operation->attached_as(); !before.empty() && before != name) {
    why = "the operation is " + std::string(before) + " already";
  } else {
    std::ranges::copy(name, own.name.begin());
    own.possible = true;
  }
  HostBootstrap world(urakata::shim::private_world());
  const auto all = world.gathered(own);
  if (operation == nullptr || !why.empty()) return why;
  if (all.empty()) return "the host refuses the meeting of the ranks";
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string who = "rank " + std::to_string(rank) + " of MPI_COMM_WORLD ";
    if (!all[rank].possible) return who + "cannot name its operation";
    if (all[rank] != own) return who + "says " + all[rank].name.data() + ", and this one " + own.name.data();
  }
  return operation->attach_as(name) ? "" : "another thread names the operation otherwise at the same time";
}

}  // namespace

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

int ura_op_kernel(MPI_Op op, const char* name) {
  if (name == nullptr) name = "";
  if (!urakata::shim::process().running()) {
    return urakata::shim::user_error("ura_op_kernel", MPI_ERR_OTHER, "MPI is not initialized, or only for sessions");
  }
  if (urakata::shim::process().host_only()) return MPI_SUCCESS;  // on all ranks alike
  UserOperation* const operation = urakata::shim::user_operation(op);
  const std::string why = name_on_all(operation, name);
  if (why.empty()) return MPI_SUCCESS;
  return urakata::shim::user_error("ura_op_kernel", operation == nullptr ? MPI_ERR_OP : MPI_ERR_ARG, why);
}

}  // extern "C"
