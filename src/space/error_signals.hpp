// The signals by which a program's own errors end it, and what to call them.
#pragma once

#include <csignal>

namespace urakata::space {

// Without pointers: the kernel loads urakata-proxy at any address, and nothing there would relocate them.
struct ErrorSignal {
  int number;
  char name[8];
  char meaning[28];
};
// The last two come from tracers and system call filters, who look after them: no report is made of where they
// happened.
inline constexpr ErrorSignal kErrorSignals[] = {{SIGSEGV, "SIGSEGV", "Segmentation fault"},
                                                {SIGBUS, "SIGBUS", "Bus error"},
                                                {SIGILL, "SIGILL", "Illegal instruction"},
                                                {SIGFPE, "SIGFPE", "Floating point exception"},
                                                {SIGABRT, "SIGABRT", "Aborted"},
                                                {SIGSYS, "SIGSYS", "Bad system call"},
                                                {SIGTRAP, "SIGTRAP", "Trace/breakpoint trap"}};

inline constexpr int kReported = 5;  // of these, from the first

}  // namespace urakata::space
