// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/error_handler.hpp"

#include "base/handle_map.hpp"
#include "base/mutex.hpp"
#include "shim/native/left_handles.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/private_comms.hpp"
#include "shim/process/process_state.hpp"

namespace urakata::shim {

namespace {

MPI_Comm communicator_of_this_rank() {
  constexpr int kTag = 1;  // not that of neighbours.cpp, which makes such communicators, too
  static Mutex lock;
  const LockGuard guard(lock);
  MPI_Group own = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  native.Comm_group(private_comms.self, &own);
  native.Comm_create_group(private_comms.self, own, kTag, &made);
  native.Group_free(&own);
  return made;
}

}  // namespace

KeptErrorHandler keep_error_handler(MPI_Comm comm) {
  MPI_Errhandler handler{};
  return native.Comm_get_errhandler(comm, &handler) == MPI_SUCCESS ? bits(handler) : 0;
}

void forget_error_handler(KeptErrorHandler handler) {
  if (handler != 0) leave_error_handler(handle_of<MPI_Errhandler>(handler));
}

int ErrorTarget::tell(int code) const {
  if (!freed) {
    native.Comm_call_errhandler(comm, code);
  } else if (handler == 0 || !process_state.running) {
    native.Comm_call_errhandler(MPI_COMM_WORLD, code);
  } else {
    MPI_Comm alone = communicator_of_this_rank();
    native.Comm_set_errhandler(alone, handle_of<MPI_Errhandler>(handler));
    native.Comm_call_errhandler(alone, code);
    native.Comm_free(&alone);
  }
  return code;
}

}  // namespace urakata::shim
