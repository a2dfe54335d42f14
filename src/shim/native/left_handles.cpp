// SPDX-License-Identifier: BSD-3-Clause
#include "shim/native/left_handles.hpp"

#include <new>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "shim/native/native_library.hpp"

namespace urakata::shim {

namespace {

struct Left {
  Mutex lock;  // needed also if the program has one thread: progress threads leave handles
  std::vector<MPI_Datatype> types URAKATA_GUARDED_BY(lock);
  std::vector<MPI_Op> operations URAKATA_GUARDED_BY(lock);
  std::vector<MPI_Errhandler> error_handlers URAKATA_GUARDED_BY(lock);
};
Left& left() {
  static auto* made = new Left;
  return *made;
}

template <class Handle>
void leave(std::vector<Handle> Left::*where, Handle handle) try {
  const LockGuard guard(left().lock);
  (left().*where).push_back(handle);
  handles_left.store(true, std::memory_order_relaxed);
} catch (const std::bad_alloc&) {
  return;  // the MPI library keeps it until MPI_Finalize
}

}  // namespace

constinit std::atomic<bool> handles_left{false};

void leave_type(MPI_Datatype handle) { leave(&Left::types, handle); }
void leave_operation(MPI_Op handle) { leave(&Left::operations, handle); }
void leave_error_handler(MPI_Errhandler handle) { leave(&Left::error_handlers, handle); }

void free_handles_that_are_left() {
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Op> operations;
  std::vector<MPI_Errhandler> error_handlers;
  {
    const LockGuard guard(left().lock);
    types.swap(left().types);
    operations.swap(left().operations);
    error_handlers.swap(left().error_handlers);
    handles_left.store(false, std::memory_order_relaxed);
  }
  for (MPI_Datatype& handle : types) native.Type_free(&handle);
  for (MPI_Op& handle : operations) native.Op_free(&handle);
  for (MPI_Errhandler& handle : error_handlers) native.Errhandler_free(&handle);
}

}  // namespace urakata::shim
