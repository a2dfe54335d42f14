// SPDX-License-Identifier: BSD-3-Clause
// The signals by which a program's own errors end it, with their names.
#pragma once

#include <csignal>

namespace urakata::space {

// Has no pointers: the kernel loads urakata-proxy at any address, and nothing in that program would relocate pointers.
struct ErrorSignal {
  int number;
  char name[8];
  char meaning[28];
};
// The last two come from tracers and system call filters, which handle them: crash_report.hpp does not report them.
inline constexpr ErrorSignal kErrorSignals[] = {{SIGSEGV, "SIGSEGV", "Segmentation fault"},
                                                {SIGBUS, "SIGBUS", "Bus error"},
                                                {SIGILL, "SIGILL", "Illegal instruction"},
                                                {SIGFPE, "SIGFPE", "Floating point exception"},
                                                {SIGABRT, "SIGABRT", "Aborted"},
                                                {SIGSYS, "SIGSYS", "Bad system call"},
                                                {SIGTRAP, "SIGTRAP", "Trace/breakpoint trap"}};

inline constexpr int kReported = 5;  // number of signals, from the first, that crash_report.hpp reports

}  // namespace urakata::space
