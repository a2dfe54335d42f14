#include "shim/mpich_progress.hpp"

namespace urakata::shim {

namespace {

// Of mpi.h from MPICH 4.3 on; others have none of it, and one library is for all.
using Poll = int(void* thing);
using AsyncStart = int(Poll* poll, void* state, int stream);
constexpr int kStreamNull = 0x3c000000;
constexpr int kNoProgress = 0;
constexpr int kDone = 1;

AsyncStart* async_start = nullptr;
int (*called)() = nullptr;  // nullptr: nobody is to be called any more
bool registered = false;    // MPICH calls poll()
bool within = false;

// What it calls may come to MPICH's progress again.
int poll(void*) {
  if (within) return kNoProgress;
  if (called == nullptr) {
    registered = false;
    return kDone;
  }
  within = true;
  called();
  within = false;
  return kNoProgress;
}

}  // namespace

void set_mpich_async_start(void* function) { async_start = reinterpret_cast<AsyncStart*>(function); }

int mpich_progress_register(int (*callback)()) {
  called = callback;
  if (registered) return 0;
  const int code = async_start(poll, nullptr, kStreamNull);
  registered = code == 0;
  return code;
}

// It leaves MPICH's list at its next turn; MPI_Finalize waits for that.
int mpich_progress_unregister(int (*)()) {
  called = nullptr;
  return 0;
}

}  // namespace urakata::shim
