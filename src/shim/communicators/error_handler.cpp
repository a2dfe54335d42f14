// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/error_handler.hpp"

#include <mutex>

#include "base/handle_map.hpp"
#include "shim/native/host.hpp"
#include "shim/native/left_handles.hpp"
#include "shim/process/process.hpp"

namespace urakata::shim {

namespace {

MPI_Comm communicator_of_this_rank() {
  constexpr int kTag = 1;  // of this use of it
  static std::mutex lock;
  const std::lock_guard guard(lock);
  MPI_Group own = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  host.Comm_group(process().self(), &own);
  host.Comm_create_group(process().self(), own, kTag, &made);
  host.Group_free(&own);
  return made;
}

}  // namespace

KeptErrorHandler keep_error_handler(MPI_Comm comm) {
  MPI_Errhandler handler{};
  return host.Comm_get_errhandler(comm, &handler) == MPI_SUCCESS ? bits(handler) : 0;
}

void forget_error_handler(KeptErrorHandler handler) {
  if (handler != 0) leave_error_handler(handle_of<MPI_Errhandler>(handler));
}

int ErrorTarget::tell(int code) const {
  if (!freed) {
    host.Comm_call_errhandler(comm, code);
  } else if (handler == 0 || !process().running()) {
    host.Comm_call_errhandler(MPI_COMM_WORLD, code);
  } else {
    MPI_Comm alone = communicator_of_this_rank();
    host.Comm_set_errhandler(alone, handle_of<MPI_Errhandler>(handler));
    host.Comm_call_errhandler(alone, code);
    host.Comm_free(&alone);
  }
  return code;
}

}  // namespace urakata::shim
