// The program that the user named: which file is run, by whom, and whether preloading can reach it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace urakata {

enum class Reach : std::uint8_t {
  preload,   // a dynamically linked program
  launcher,  // mpirun and its like: it starts the ranks and is none
  shell,     // a shell or shell script: what it starts is the rank
  wrapper,   // env, taskset, numactl and their like, in front of the rank; a script whose first line has env
  debugger,  // gdb, valgrind and their like: they watch the program that they start, and none in between
  again,     // urakata-exec itself
  never,     // static, set-user-ID, another machine's: see `why`
};

struct Program {
  std::string path;         // the file that is started
  std::string interpreter;  // for a script: the program that in the end runs it; else equal to path
  Reach reach = Reach::preload;
  std::string why;  // for reach `never`: "is statically linked"
};

struct NotStarted {
  int exit_code = 127;  // 127: not found, 126: found, but cannot be run; as shells have it
  std::string message;
};

// Finds the program as execvp(3) does. False: it cannot be started, and `failure` says why.
bool find_program(std::string_view name, Program& program, NotStarted& failure);

}  // namespace urakata
