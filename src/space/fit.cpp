#include "space/fit.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "space/image.hpp"

namespace urakata::space {
namespace {

constexpr int kDeepestScript = 4;  // as in the kernel

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string real_path(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  std::string result = real != nullptr ? real : path;
  std::free(real);
  return result;
}

// Whether exec would give the program other rights than the caller's.
bool raises_rights(const std::string& file) {
  struct stat about {};
  if (stat(file.c_str(), &about) != 0) return false;
  const bool user = (about.st_mode & S_ISUID) != 0 && about.st_uid != geteuid();
  const bool group = (about.st_mode & S_ISGID) != 0 && about.st_gid != getegid();
  return user || group || (geteuid() != 0 && getxattr(file.c_str(), "security.capability", nullptr, 0) > 0);
}

std::string in_path(std::string_view name) {
  const char* variable = std::getenv("PATH");
  std::string_view list = variable != nullptr ? variable : "/bin:/usr/bin";
  while (true) {
    const std::size_t end = std::min(list.find(':'), list.size());
    std::string file = (end == 0 ? "." : std::string(list.substr(0, end))) + "/" + std::string(name);
    struct stat about {};
    if (stat(file.c_str(), &about) == 0 && S_ISREG(about.st_mode) && access(file.c_str(), X_OK) == 0) return file;
    if (end == list.size()) return {};
    list.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The text behind "#!" where the file is a script.
bool is_script(const std::string& file, std::string& line) {
  std::ifstream input(file, std::ios::binary);
  std::array<char, 2> start{};
  if (!input.read(start.data(), start.size()) || std::string_view(start.data(), 2) != "#!") return false;
  std::getline(input, line);
  return true;
}

// Puts the interpreter in front: as the kernel does, and as env does where it only names a program.
Status through_interpreter(const std::string& line, Command& command) {
  const std::string_view text = trimmed(line);
  const std::size_t blank = std::min(text.find_first_of(" \t"), text.size());
  const std::string interpreter(text.substr(0, blank));
  const std::string argument(trimmed(text.substr(blank)));
  if (interpreter.empty()) return Error{"is a script whose first line names no interpreter"};
  command.arguments.front() = command.shown;
  if (base_name(interpreter) == "env") {
    if (argument.empty() || argument.starts_with('-') || argument.find_first_of("= \t") != std::string::npos) {
      return Error{"is a script whose first line gives env more than a program; start it as interpreter and script"};
    }
    command.shown = argument.find('/') != std::string::npos ? argument : in_path(argument);
    if (command.shown.empty()) return Error{"is a script for " + argument + ", which is not in PATH"};
    command.arguments.insert(command.arguments.begin(), argument);
  } else {
    if (!argument.empty()) command.arguments.insert(command.arguments.begin(), argument);
    command.arguments.insert(command.arguments.begin(), interpreter);
    command.shown = interpreter;
  }
  return Nothing{};
}

Status fit_image(const Image& image) {
  if (!image.sanitizer.empty()) {
    return Error{"is built with " + image.sanitizer + ", which cannot run twice in one address space"};
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
  return Nothing{};
}

}  // namespace

Result<Command> fit(const std::string& path, std::span<char* const> arguments) {
  Command command;
  command.shown = path;
  command.arguments.assign(arguments.begin(), arguments.end());
  std::string line;
  for (int depth = 0; is_script(command.shown, line); ++depth) {
    if (depth == kDeepestScript) return Error{"is a script whose interpreter is a script, too many times"};
    if (Status good = through_interpreter(line, command); !good) return good.error();
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
