// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <vector>

#include "base/file_bytes.hpp"
#include "base/program_file.hpp"
#include "elf.hpp"

namespace urakata {
namespace {

using namespace std::string_view_literals;

constexpr std::array kLaunchers = {"mpirun"sv, "mpiexec"sv, "srun"sv, "prterun"sv, "prun"sv,  "orterun"sv,
                                   "aprun"sv,  "jsrun"sv,   "flux"sv, "salloc"sv,  "sbatch"sv};
constexpr std::array kShells = {"sh"sv, "bash"sv, "dash"sv, "zsh"sv, "ksh"sv, "csh"sv, "tcsh"sv, "fish"sv, "busybox"sv};
constexpr std::array kWrappers = {"env"sv,    "taskset"sv, "numactl"sv, "nice"sv,  "time"sv,    "timeout"sv, "stdbuf"sv,
                                  "setsid"sv, "chrt"sv,    "ionice"sv,  "nohup"sv, "prlimit"sv, "strace"sv,  "perf"sv};
constexpr std::array kDebuggers = {"gdb"sv, "ltrace"sv, "valgrind"sv};

bool among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Whether it is the name of a launcher, such as "mpirun", "mpirun.openmpi" or "mpiexec.mpich".
bool is_launcher(std::string_view name) { return among(kLaunchers, name.substr(0, name.find('.'))); }

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    found.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return found;
}

// The program that `#!/usr/bin/env [-S] [NAME=VALUE] program` means.
std::string through_env(std::span<const std::string> arguments) {
  for (const std::string& word : arguments) {
    if (word.starts_with('-') || word.find('=') != std::string::npos) continue;
    std::string denied;
    return word.find('/') != std::string::npos ? word : search_path(word, denied);
  }
  return {};
}

bool is_elf(const std::string& path) {
  constexpr std::string_view kElf = "\177ELF";
  return file_bytes(path, kElf.size()) == kElf;
}

// Follows "#!" lines to the program that runs the file. `by_env`: one of the lines names env, which executes that
// program. A file that is neither a script nor an ELF file is run by the shell.
std::string interpreter_of(const std::string& path, bool& by_env) {
  std::string file = path;
  for (int depth = 0; depth < kDeepestScript; ++depth) {
    const std::optional<ScriptLine> line = script_line(file);
    if (!line) return is_elf(file) ? file : "/bin/sh";
    if (line->interpreter.empty()) return "/bin/sh";
    const bool env = base_name(line->interpreter) == "env";
    by_env = by_env || env;
    file = env ? through_env(words(line->argument)) : line->interpreter;
    if (file.empty()) return {};
  }
  return file;
}

void judge(Program& program, bool by_env) {
  const std::string_view name = base_name(program.path);
  const std::string runner = real_path(program.interpreter);
  if (is_launcher(name)) {
    program.reach = Reach::launcher;
  } else if (name == "urakata-exec") {
    program.reach = Reach::again;
  } else if (among(kShells, base_name(program.interpreter)) || among(kShells, base_name(runner))) {
    program.reach = Reach::shell;
  } else if (by_env || (program.path == program.interpreter && among(kWrappers, name))) {
    program.reach = Reach::wrapper;
  } else if (program.path == program.interpreter && among(kDebuggers, name)) {
    program.reach = Reach::debugger;
  } else if (raises_rights(runner)) {
    program.reach = Reach::never;
    program.why = "is set-user-ID or has capabilities, where the system allows no preloading";
  } else if (const Result<Elf> elf = read_elf(runner); !elf) {
    program.reach = Reach::never;
    program.why = "cannot be looked into (" + elf.error().message + ")";
  } else if (elf->foreign) {
    program.reach = Reach::never;
    program.why = "is built for another processor or word size";
  } else if (!elf->dynamic) {
    program.reach = Reach::never;
    program.why = "is statically linked; link it against a shared MPI library to have Urakata under it";
  }
}

}  // namespace

bool find_program(std::string_view name, Program& program, NotStarted& failure) {
  std::string denied;
  if (name.find('/') == std::string_view::npos) {
    program.path = search_path(name, denied);
  } else if (runnable_file(std::string(name))) {
    program.path = name;
  } else if (access(std::string(name).c_str(), F_OK) == 0 || errno == EACCES) {
    denied = name;
  }
  if (program.path.empty() && !denied.empty()) {
    struct stat about {};
    const bool folder = stat(denied.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
    failure = {126, "cannot run " + denied + ": " +
                        (folder ? "it is a directory" : "permission denied; is it executable (chmod +x)?")};
    return false;
  }
  if (program.path.empty()) {
    const bool in_path = name.find('/') == std::string_view::npos;
    failure = {127,
               "cannot run " + std::string(name) + ": " +
                   (in_path ? "no such program in PATH (a program of this directory is ./" + std::string(name) + ")"
                            : "no such file")};
    return false;
  }
  bool by_env = false;
  program.interpreter = interpreter_of(program.path, by_env);
  if (program.interpreter.empty() || !runnable_file(program.interpreter)) {
    failure = {126, "cannot run " + program.path + ": its interpreter (first line) is not there"};
    return false;
  }
  judge(program, by_env);
  return true;
}

}  // namespace urakata
