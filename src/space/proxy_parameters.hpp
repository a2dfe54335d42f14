// SPDX-License-Identifier: BSD-3-Clause
// What the proxy process has to know, handed from urakata-exec to the program urakata-proxy in its environment.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>

namespace urakata::space {

// Signal n is bit n - 1.
constexpr std::uint64_t signal_bit(int number) { return std::uint64_t{1} << static_cast<unsigned>(number - 1); }
// The signals that a proxy passes on to its task: all that other processes may send. Signals of its own errors are not
// passed on.
inline constexpr std::uint64_t kPassedSignals = ~(signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGILL) |
                                                  signal_bit(SIGFPE) | signal_bit(SIGTRAP) | signal_bit(SIGSYS));

struct ProxyParameters {
  int socket = -1;       // connection to the space daemon
  pid_t task = 0;        // pid of the task
  pid_t daemon = 0;      // pid of the space daemon, in its own pid name space
  int shared_group = 0;  // 1: the task is in the proxy's own process group
  pid_t parent = 0;      // pid of the launcher, or of another parent
  int rank = -1;         // rank that the launcher has set; -1: none
};

// Holds the six numbers in this order, in decimal digits, separated by one blank.
inline constexpr const char kProxyVariable[] = "URAKATA_PROXY";

}  // namespace urakata::space
