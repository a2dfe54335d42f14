// SPDX-License-Identifier: BSD-3-Clause
// Which line of a Python program a call comes from, that arrives from one of the interpreter's extension modules.
#pragma once

#include <functional>
#include <string>

namespace urakata::observe {

struct PythonLine {
  std::string file, function;  // function as Python qualifies it: "Solver.step", "<module>"
  int line = 0;
};

// The line that the calling thread's Python code is at, where `address` lies in an extension module of CPython 3.9 or
// newer; nullptr otherwise, and where the thread has no Python code. One object for each instruction of each code
// object, for the life of the process.
//
// Call it when nothing is left to do in an MPI call, and without a lock. It waits for the interpreter's lock, the GIL:
// modules such as mpi4py release it around a call, and without it not even the thread's own frame can be read, since
// that allocates and counts references. Python offers no way to only try for it. Another thread may keep it until the
// operation that this call starts is done, so waiting for it before the start could be a deadlock. At the end it
// cannot be a new one: the module takes the GIL as soon as the call returns.
const PythonLine* python_line(const void* address);

// Does the address lie in an extension module of Python's?
bool from_python(const void* address);

// The calling thread as Python knows it, which needs no GIL; nullptr: it is none of Python's.
const void* python_thread();

// Finds the line of another thread that is inside a call of an extension module and has released the GIL there. Waits
// for the GIL; with it, asks by `still` whether the thread is in that call yet, and then passes the line to `found`.
// `thread` may be dangling if `still` says no. Finds nothing of another interpreter than the first one, if that one is
// ending, or if Python has no GIL.
//
// Call it from a thread that the program does not wait for.
void find_python_line(const void* thread, const std::function<bool()>& still,
                      const std::function<void(const PythonLine&)>& found);

}  // namespace urakata::observe
