// SPDX-License-Identifier: BSD-3-Clause
#include "shim/process/own_program.hpp"

#include <sys/auxv.h>

#include <cstdlib>
#include <span>

#include "base/options/written.hpp"
#include "space/registry.hpp"

namespace urakata::shim {

namespace {

// In a space /proc/self/cmdline and /proc/self/exe are those of the space daemon. So the arguments are taken from the C
// library, which passes them to every constructor. The program's file is looked up here, before the program can change
// its directory.
constinit std::span<char* const> arguments;
constinit const char* own_file = nullptr;
[[gnu::constructor]] void note_program(int count, char** list) {
  arguments = {list, static_cast<std::size_t>(count)};
  const auto* const named = reinterpret_cast<const char*>(getauxval(AT_EXECFN));  // NOLINT(performance-no-int-to-ptr)
  own_file = realpath(space::own_space() ? named : "/proc/self/exe", nullptr);
}

}  // namespace

std::string command_line() {
  std::string line;
  for (const char* one : arguments) line += written::shell_word(one) + " ";
  return line;
}

const char* program_file() { return own_file != nullptr ? own_file : ""; }

}  // namespace urakata::shim
