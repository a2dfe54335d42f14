// SPDX-License-Identifier: BSD-3-Clause
// The halos of urakata.h: ura_halo_create to ura_halo_free.
#include <string>
#include <utility>

#include "device/runtime.hpp"
#include "shim/native/abi.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/without_memory.hpp"
#include "shim/process/devices.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/profiled.hpp"
#include "shim/user/user_error.hpp"
#include "shim/user/user_halo.hpp"
#include "urakata.h"

namespace shim = urakata::shim;
using shim::Direction;
using urakata::Error;
using urakata::Result;

struct ura_halo {
  std::unique_ptr<shim::UserHalo> is;
};

namespace {

// The number of ranks of an intracommunicator; 0: it is none, or MPI is not running.
int ranks_of(MPI_Comm comm) {
  if (!shim::process_state.running || comm == MPI_COMM_NULL) return 0;
  int between_groups = 0;
  int ranks = 0;
  shim::native.Comm_test_inter(comm, &between_groups);
  if (between_groups == 0) shim::native.Comm_size(comm, &ranks);
  return ranks;
}

constexpr const char* kComm = "an intracommunicator is needed, between MPI_Init and MPI_Finalize";

// `side(direction)` is the side that the program describes. A rank that has no memory for it takes part all the same:
// making a halo is collective, and the other ranks must be told.
template <class Side>
int create(const char* function, MPI_Comm comm, const Side& side, const void* site, ura_halo** halo) {
  const Error no_memory{"there is no memory for the lists of neighbours"};
  Result<shim::HaloSide> send = no_memory;
  Result<shim::HaloSide> receive = no_memory;
  const int code = shim::or_no_memory([&] {
    Result<shim::HaloSide> out = side(Direction::send);
    receive = side(Direction::receive);
    send = std::move(out);
    return int{MPI_ERR_ARG};
  });
  auto made = shim::UserHalo::make(comm, std::move(send), std::move(receive), site);
  if (!made.ok()) return shim::user_error(function, code, made.error().message);
  *halo = new ura_halo{std::move(*made)};
  return MPI_SUCCESS;
}

// Checks that an exchange of the halo is under way, or none is, as the call needs (`under_way`). The result is
// MPI_SUCCESS, or the code of an error that has been logged.
int misused(const char* function, const ura_halo* halo, bool under_way) {
  if (halo == nullptr || !shim::process_state.running) {
    return shim::user_error(function, MPI_ERR_ARG, "there is no halo, or MPI_Finalize was called");
  }
  if (halo->is->under_way() == under_way) [[likely]] {
    return MPI_SUCCESS;
  }
  return under_way ? shim::user_error(function, MPI_ERR_ARG, "no exchange has begun; call ura_halo_begin first")
                   : shim::user_error(function, MPI_ERR_PENDING,
                                      "the exchange that was begun last is not ended; call ura_halo_end first");
}

bool in_device(const void* vector, std::string* why) {
  const auto place = urakata::device::place_of(vector);
  if (!place) {
    *why = place.error().message;
  } else if (place->driver != nullptr) {
    *why =
        "a vector is in memory of a device, which neighbourhood channels do not reach; copy it to the processor's "
        "memory first, or set NEIGHBORHOOD=schedules";
  }
  return !why->empty();
}

}  // namespace

extern "C" {

int ura_halo_create(MPI_Comm comm, MPI_Aint element_bytes, const ura_halo_side* send, const ura_halo_side* receive,
                    ura_halo** halo) {
  const int ranks = ranks_of(comm);
  if (ranks == 0) return shim::user_error("ura_halo_create", MPI_ERR_COMM, kComm);
  const auto side = [&](Direction direction) -> Result<shim::HaloSide> {
    const ura_halo_side* const given = direction == Direction::send ? send : receive;
    if (given == nullptr || halo == nullptr) return Error{"both sides, and a place for the halo, are needed"};
    return side_of_lists(direction, *given, element_bytes, ranks);
  };
  return create("ura_halo_create", comm, side, shim::caller(__builtin_return_address(0)), halo);
}

int ura_halo_create_types(MPI_Comm comm, int send_neighbours, const int* send_ranks, const MPI_Datatype* send_types,
                          int receive_neighbours, const int* receive_ranks, const MPI_Datatype* receive_types,
                          ura_halo** halo) {
  const int ranks = ranks_of(comm);
  if (ranks == 0) return shim::user_error("ura_halo_create_types", MPI_ERR_COMM, kComm);
  const auto side = [&](Direction direction) -> Result<shim::HaloSide> {
    if (halo == nullptr) return Error{"a place for the halo is needed"};
    return direction == Direction::send
               ? side_of_types(direction, send_neighbours, send_ranks, send_types, ranks)
               : side_of_types(direction, receive_neighbours, receive_ranks, receive_types, ranks);
  };
  return create("ura_halo_create_types", comm, side, shim::caller(__builtin_return_address(0)), halo);
}

int ura_halo_name(ura_halo* halo, const char* name) {
  if (name == nullptr || *name == '\0') return shim::user_error("ura_halo_name", MPI_ERR_ARG, "there is no name");
  if (const int code = misused("ura_halo_name", halo, false); code != MPI_SUCCESS) return code;
  halo->is->name(name);
  return MPI_SUCCESS;
}

int ura_halo_begin(ura_halo* halo, const void* send_vector, void* receive_vector) {
  if (const int code = misused("ura_halo_begin", halo, false); code != MPI_SUCCESS) return code;
  if (shim::have_devices() && halo->is->by_channel()) [[unlikely]] {
    std::string why;
    if (in_device(send_vector, &why) || in_device(receive_vector, &why)) {
      return shim::user_error("ura_halo_begin", MPI_ERR_BUFFER, why);
    }
  }
  return halo->is->begin(send_vector, receive_vector);
}

int ura_halo_ready(ura_halo* halo, int neighbour, int* flag) {
  if (const int code = misused("ura_halo_ready", halo, true); code != MPI_SUCCESS) return code;
  if (flag == nullptr || neighbour < 0 || static_cast<std::size_t>(neighbour) >= halo->is->sources()) {
    return shim::user_error(
        "ura_halo_ready", MPI_ERR_ARG,
        "there is no receive neighbour " + std::to_string(neighbour) + ", or no place for the answer");
  }
  bool here = false;
  const int code = halo->is->ready(static_cast<std::size_t>(neighbour), &here);
  *flag = here ? 1 : 0;
  return code;
}

int ura_halo_ready_any(ura_halo* halo, int* neighbour) {
  if (const int code = misused("ura_halo_ready_any", halo, true); code != MPI_SUCCESS) return code;
  if (neighbour == nullptr)
    return shim::user_error("ura_halo_ready_any", MPI_ERR_ARG, "a place for the neighbour is needed");
  std::optional<std::size_t> found;
  const int code = halo->is->ready_any(&found);
  *neighbour = found ? static_cast<int>(*found) : -1;
  return code;
}

int ura_halo_end(ura_halo* halo) {
  if (const int code = misused("ura_halo_end", halo, true); code != MPI_SUCCESS) return code;
  return halo->is->end();
}

int ura_halo_free(ura_halo** halo) {
  if (halo == nullptr) return shim::user_error("ura_halo_free", MPI_ERR_ARG, "there is no halo");
  if (const int code = misused("ura_halo_free", *halo, false); code != MPI_SUCCESS) return code;
  delete *halo;
  *halo = nullptr;
  return MPI_SUCCESS;
}

}  // extern "C"
