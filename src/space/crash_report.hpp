// SPDX-License-Identifier: BSD-3-Clause
// What a task prints when it dies of its own error: signal, address, and the backtrace.
#pragma once

#include "space/registry.hpp"

namespace urakata::space {

// Installs a handler for each of SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT that has the default action or Open MPI's
// handler. Our handler prints the report to standard error (rank as log.hpp shows it), or has Open MPI's handler print
// its own. Then the signal takes its default action: it ends the process. A core dump, if allowed, holds the task's own
// memory only. A handler that the program installs later replaces ours.
//
// To be called at most once, by any thread. The calling thread gets a signal stack, so its stack overflow is reported.
// Other threads whose stack overflows die without a report.
void report_crashes(const Membership& membership);

}  // namespace urakata::space
