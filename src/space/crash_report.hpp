// What a task says when it dies of its own mistake: signal, address, and the calls that led there.
#pragma once

#include "space/registry.hpp"

namespace urakata::space {

// Installs a handler for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT where the process has none but Open MPI's. It
// writes its lines to standard error (rank as log.hpp shows it), or has Open MPI write its own, and lets the signal do
// what it does by default: end the process, with a core dump where one is allowed, of the task's own memory. A program
// that installs its own later replaces it. Any thread, once; where its stack overflows there is another for the lines,
// while other threads die without them.
void report_crashes(const Membership& membership);

}  // namespace urakata::space
