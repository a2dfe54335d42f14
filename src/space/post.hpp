// What a stand-in has to know, handed from urakata-exec to the program urakata-stand-in in its environment.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>

namespace urakata::space {

// Signal n is bit n - 1.
constexpr std::uint64_t signal_bit(int number) { return std::uint64_t{1} << static_cast<unsigned>(number - 1); }
// What a stand-in passes on: all that others may send; not the signals of its own mistakes.
inline constexpr std::uint64_t kPassedSignals = ~(signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGILL) |
                                                  signal_bit(SIGFPE) | signal_bit(SIGTRAP) | signal_bit(SIGSYS));

struct Post {
  int socket = -1;       // to the daemon
  pid_t task = 0;        // whom it stands in for
  pid_t daemon = 0;      // as it sees itself
  int shared_group = 0;  // 1: the task is in the stand-in's own process group
  pid_t parent = 0;      // the launcher, where there is one
  int rank = -1;         // as the launcher says; -1: there is none
};

// The six numbers in this order, in decimal digits, each after the first behind one blank.
inline constexpr const char kPostVariable[] = "URAKATA_STAND_IN";

}  // namespace urakata::space
