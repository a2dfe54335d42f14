// SPDX-License-Identifier: BSD-3-Clause
// Finds the program that the user named: its file, its interpreter, and whether a library can be preloaded into it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace urakata {

enum class Reach : std::uint8_t {
  preload,   // a dynamically linked program
  launcher,  // such as mpirun: it starts the ranks and is no rank
  shell,     // a shell or shell script: a program that it starts is the rank
  wrapper,   // such as env, taskset or numactl, in front of the rank; a script whose first line names env
  debugger,  // such as gdb or valgrind: it watches the program that it starts, and nothing may be in between
  again,     // urakata-exec itself
  never,     // nothing can be preloaded: static, set-user-ID, for another machine; see `why`
};

struct Program {
  std::string path;         // file that is started
  std::string interpreter;  // program that runs the script in the end; for no script equal to `path`
  Reach reach = Reach::preload;
  std::string why;  // reason for reach `never`, such as "is statically linked"
};

struct NotStarted {
  int exit_code = 127;  // exit code, as of a shell: 127 not found, 126 found, but cannot be run
  std::string message;
};

// Finds the program as execvp(3) does. False: it cannot be started, and `failure` says why.
bool find_program(std::string_view name, Program& program, NotStarted& failure);

}  // namespace urakata
