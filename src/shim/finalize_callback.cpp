#include "shim/finalize_callback.hpp"

#include <utility>

#include "base/helper_thread.hpp"
#include "shim/host.hpp"

namespace urakata::shim {

namespace {

using End = void (*)();
constinit End at_end = nullptr;  // nullptr once it was called

void end_once() {
  if (const End end = std::exchange(at_end, nullptr)) end();
}

int leave_out_of_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int deleted(MPI_Comm, int, void*, void*) {
  end_once();
  return MPI_SUCCESS;
}

bool finalized() {
  int flag = 0;
  host.Finalized(&flag);
  return flag != 0;
}

// Open MPI calls no further callback once one of the program's has returned an error. It then waits for the other ranks
// and still allows all calls, while its progress loop calls this.
int end_after_failed_callback() {
  if (at_end != nullptr && !on_helper_thread && finalized()) end_once();
  return 0;
}

}  // namespace

bool set_finalize_callback(void (*end)()) {
  int key = MPI_KEYVAL_INVALID;
  if (host.Comm_create_keyval(leave_out_of_copy, deleted, &key, nullptr) != MPI_SUCCESS) return false;
  const bool set = host.Comm_set_attr(MPI_COMM_SELF, key, nullptr) == MPI_SUCCESS;
  host.Comm_free_keyval(&key);  // the attribute keeps it
  if (set) at_end = end;
  return set;
}

int finalize_with_callback() {
  const bool hook = host.progress_register != nullptr;
  if (hook) host.progress_register(end_after_failed_callback);
  const int code = host.Finalize();
  // MPICH calls the callbacks in a later MPI_Session_finalize where the program has a session. Its library stays until
  // then, so the end need not wait.
  if (!hook && finalized()) end_once();
  return code;
}

}  // namespace urakata::shim
