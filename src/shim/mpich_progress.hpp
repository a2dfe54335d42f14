// MPICH's own waiting as a caller of ours: what opal_progress_register is to Open MPI, MPIX_Async_start is to MPICH from
// 4.3 on. Its progress calls what was given to it once in each turn.
//
// MPICH holds a lock meanwhile where threads may call it, and takes the locks of what we call from there in another
// order than a thread that calls MPI. So it is for processes of which one thread at a time calls MPI; elsewhere a
// fallback progress thread does it, as with hosts that offer nothing.
//
// Thread-safety: by the one thread at a time that calls MPI.
#pragma once

namespace urakata::shim {

// A function like MPIX_Async_start of the library; nullptr: there is none.
void set_mpich_async_start(void* function);

// As opal_progress_register and its counterpart; one callback at a time. What register returns is not zero where MPICH
// refuses.
int mpich_progress_register(int (*callback)());
int mpich_progress_unregister(int (*callback)());

}  // namespace urakata::shim
