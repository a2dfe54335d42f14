// SPDX-License-Identifier: BSD-3-Clause
// The line of Python code that an MPI call comes from, if an extension module such as mpi4py makes the call.
#pragma once

#include <functional>
#include <string>

namespace urakata::observe {

struct PythonLine {
  std::string file, function;  // function as Python qualifies it: "Solver.step", "<module>"
  int line = 0;
};

// The line that the calling thread's Python code is at. nullptr: `address` lies in no extension module of CPython 3.9
// or newer, the thread runs no Python code, or Python cannot be asked now. One object for each instruction of each code
// object, for the life of the process; nullptr for new ones once there are some thousand.
//
// Call this function when nothing is left to do in an MPI call, and without holding a lock. It waits for the GIL, the
// interpreter's lock: modules such as mpi4py release the GIL around a call, and even the thread's own frame cannot be
// read without it, since that allocates and counts references. Python cannot merely try to take the GIL. Another thread
// may hold it until the operation that this call starts is done, so to wait before the start could be a deadlock. To
// wait at the end adds no deadlock: the module takes the GIL anyway as soon as the call returns.
const PythonLine* python_line(const void* address);

// Whether the address lies in an extension module of Python's.
bool from_python(const void* address);

// Python's state of the calling thread, for find_python_line(); needs no GIL. nullptr: Python does not know the thread.
const void* python_thread();

// Finds the line of another thread that is inside a call of an extension module and has released the GIL there. Takes
// the GIL; if still() then says that the thread is in that call yet, passes the line to `found`. `thread` may dangle if
// still() returns false. Finds nothing if Python has no GIL, is ending, or the thread is not its main interpreter's.
//
// Call this function from a thread that the program does not wait for.
void find_python_line(const void* thread, const std::function<bool()>& still,
                      const std::function<void(const PythonLine&)>& found);

}  // namespace urakata::observe
