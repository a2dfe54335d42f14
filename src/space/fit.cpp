// SPDX-License-Identifier: BSD-3-Clause
#include "space/fit.hpp"

#include <sys/resource.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "base/file_bytes.hpp"
#include "base/options/options.hpp"
#include "base/program_file.hpp"
#include "space/heap.hpp"
#include "space/image.hpp"

namespace urakata::space {
namespace {

// Puts the interpreter in front of the arguments, as the kernel does. If the interpreter is env with nothing but a
// program's name, puts that program in front, as env does.
Status through_interpreter(const ScriptLine& line, Command& command) {
  const auto& [interpreter, argument] = line;
  if (interpreter.empty()) return Error{"is a script whose first line names no interpreter"};
  command.arguments.front() = command.shown;
  if (base_name(interpreter) == "env") {
    if (argument.empty() || argument.starts_with('-') || argument.find_first_of("= \t") != std::string::npos) {
      return Error{"is a script whose first line gives env more than a program; start it as interpreter and script"};
    }
    std::string denied;
    command.shown = argument.find('/') != std::string::npos ? argument : search_path(argument, denied);
    if (command.shown.empty()) return Error{"is a script for " + argument + ", which is not in PATH"};
    command.arguments.insert(command.arguments.begin(), argument);
  } else {
    if (!argument.empty()) command.arguments.insert(command.arguments.begin(), argument);
    command.arguments.insert(command.arguments.begin(), interpreter);
    command.shown = interpreter;
  }
  return Nothing{};
}

// Whether the dynamic linker moves the program break to read its tunables. In a task the break never moves. Linkers up
// to glibc 2.34 do so, except where a distribution has backported the change. So the test is whether the file contains
// the linker's message about a break that does not move.
bool moves_break_for_tunables(const std::string& linker) {
  return file_bytes(linker).find("sbrk() failure while processing tunables") != std::string::npos;
}

Status fit_image(const Image& image) {
  if (!image.sanitizer.empty()) {
    return Error{"is built with " + image.sanitizer + ", which cannot run twice in one address space"};
  }
  if (!image.devices.empty() && !options().space_devices) {
    return Error{
        "is linked to " + image.devices +
        ", whose driver does not expect several processes in one address space; --set SPACE_DEVICES=1 tries it"};
  }
  if (image.interpreter.empty()) return Error{"is statically linked; link it dynamically (no -static) for the space"};
  if (!image.movable) {
    return Error{"is not position-independent; compile with -fPIE and link with -pie for the space"};
  }
  if (!base_name(image.interpreter).starts_with("ld-linux") || !image.interpreter.starts_with('/')) {
    return Error{"uses the dynamic linker " + image.interpreter + "; a space takes programs of the GNU C library only"};
  }
  const Result<Image> linker = read_image(image.interpreter);
  if (!linker) return Error{"needs " + image.interpreter + ", which " + linker.error().message};
  if (!linker->movable) return Error{"needs " + image.interpreter + ", which is not position-independent"};
  if (std::getenv(kTunablesVariable) != nullptr && moves_break_for_tunables(image.interpreter)) {
    return Error{std::string("has ") + kTunablesVariable +
                 " in its environment, and this C library moves the program break to read it; unset it for the space"};
  }
  return Nothing{};
}

}  // namespace

Result<Command> fit(const std::string& path, std::span<char* const> arguments) {
  Command command;
  command.shown = path;
  command.arguments.assign(arguments.begin(), arguments.end());
  int depth = 0;
  for (auto line = script_line(command.shown); line; line = script_line(command.shown)) {
    if (depth++ == kDeepestScript) return Error{"is a script whose interpreter is a script, too many times"};
    if (Status good = through_interpreter(*line, command); !good) return good.error();
  }
  const std::string of = command.shown == path ? "" : "is a script for " + command.shown + ", which ";
  command.file = real_path(command.shown);
  if (raises_rights(command.file)) return Error{of + "is set-user-ID or has capabilities"};
  const Result<Image> image = read_image(command.file);
  if (!image) return Error{of + image.error().message};
  if (Status good = fit_image(*image); !good) return Error{of + good.error().message};
  return command;
}

Status fit_limits() {
  constexpr std::array<std::pair<__rlimit_resource, const char*>, 2> kLimits = {
      {{RLIMIT_AS, "ulimit -v"}, {RLIMIT_DATA, "ulimit -d"}}};
  for (const auto& [kind, how] : kLimits) {
    rlimit limit{};
    if (getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
      return Error{std::string("the limit of memory (") + how +
                   ") would hold for all ranks of the node together; lift it with " + how + " unlimited"};
    }
  }
  return Nothing{};
}

}  // namespace urakata::space
