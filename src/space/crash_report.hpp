// What a task says when it dies of its own mistake: signal, address, and the calls that led there.
#pragma once

namespace urakata::space {

// Installs a handler for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT where the process has none, neither the program's
// nor the host's. It writes its lines to standard error (rank as log.hpp shows it) and lets the signal do what it does
// by default: end the process, with a core dump where one is allowed. A program that installs its own later replaces
// it. Any thread; a thread whose stack has overflowed dies without these lines.
void report_crashes();

}  // namespace urakata::space
