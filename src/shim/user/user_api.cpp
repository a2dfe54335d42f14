// SPDX-License-Identifier: BSD-3-Clause
// The functions of urakata.h and measuring.h.
#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "shim/collectives/start_meter.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/kernel/channel_sets.hpp"
#include "shim/native/abi.hpp"
#include "shim/native/native_bootstrap.hpp"
#include "shim/native/private_comms.hpp"
#include "shim/native/without_memory.hpp"
#include "shim/process/allocation_count.hpp"
#include "shim/process/process_state.hpp"
#include "shim/types/operation.hpp"
#include "shim/user/measuring.h"
#include "shim/user/user_error.hpp"
#include "urakata.h"

namespace {

using urakata::shim::kLongestOpName;
using urakata::shim::NativeBootstrap;
using urakata::shim::UserOperation;

constexpr const char* kNotRunning = "MPI is not initialized, or only for sessions";

// The name that a rank wishes for its operation, and whether this rank can name it.
struct NameWish {
  std::array<char, kLongestOpName + 1> name{};
  bool possible = false;
  bool operator==(const NameWish&) const = default;
};

// Names the operation on all ranks, or on none. Returns this rank's MPI error code.
int name_on_all(MPI_Op op, std::string_view name) {
  NativeBootstrap world(urakata::shim::private_comms.world);
  NameWish own;
  std::string why;
  UserOperation* operation = nullptr;
  std::unique_ptr<const std::string> kept;
  try {
    operation = urakata::shim::user_operation(op);
    kept = std::make_unique<const std::string>(name);
  } catch (const std::bad_alloc&) {
    kept = nullptr;  // which the others are told
  }
  if (kept == nullptr) {
    why = "no memory";
  } else if (operation == nullptr) {
    why = "not an operation that MPI_Op_create made";
  } else if (name.empty() || name.size() >= own.name.size()) {
    why = "a name has 1 to " + std::to_string(own.name.size() - 1) + " characters";
  } else if (const auto before = operation->attached_as(); !before.empty() && before != name) {
    why = "the operation is " + std::string(before) + " already";
  } else {
    std::ranges::copy(name, own.name.begin());
    own.possible = true;
  }
  const auto all = world.gathered(own);
  const auto refuse = [&](const std::string& reason) {
    return urakata::shim::user_error("ura_op_kernel", operation == nullptr ? MPI_ERR_OP : MPI_ERR_ARG, reason);
  };
  if (!why.empty()) return refuse(why);
  if (all.empty()) return refuse("the MPI library refuses the meeting of the ranks");
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string who = "rank " + std::to_string(rank) + " of MPI_COMM_WORLD ";
    if (!all[rank].possible) return refuse(who + "cannot name its operation");
    if (all[rank] != own) return refuse(who + "says " + all[rank].name.data() + ", and this one " + own.name.data());
  }
  operation->attach_as(std::move(kept));
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int ura_engine(MPI_Comm comm, const char* engine) {
  if (engine == nullptr) return MPI_ERR_ARG;
  if (!urakata::shim::process_state.running) {
    return urakata::shim::user_error("ura_engine", MPI_ERR_OTHER, kNotRunning);
  }
  bool pending = false;
  const auto chosen = urakata::shim::choose_engine(comm, engine, &pending);
  if (chosen.ok()) return MPI_SUCCESS;
  return urakata::shim::user_error("ura_engine", pending ? MPI_ERR_PENDING : MPI_ERR_ARG, chosen.error().message);
}

unsigned long long urakata_internal_allocations() { return urakata::shim::allocations(); }

int urakata_internal_start_cost(double* own_ns, unsigned long long* starts) {
  if (!urakata::shim::process_state.measuring) {
    return urakata::shim::user_error("urakata_internal_start_cost", MPI_ERR_OTHER,
                                     "nothing was measured; set URAKATA_MEASURE_START=1 before the program starts");
  }
  const auto cost = urakata::shim::start_cost();
  if (own_ns != nullptr) *own_ns = cost.own_ns;
  if (starts != nullptr) *starts = cost.starts;
  return MPI_SUCCESS;
}

int ura_op_kernel(MPI_Op op, const char* name) {
  if (name == nullptr) name = "";
  if (!urakata::shim::process_state.running) {
    return urakata::shim::user_error("ura_op_kernel", MPI_ERR_OTHER, kNotRunning);
  }
  if (urakata::shim::process_state.native_only) return MPI_SUCCESS;  // on all ranks alike
  return urakata::shim::or_no_memory([&] { return name_on_all(op, name); });
}

}  // extern "C"
