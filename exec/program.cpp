#include "program.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <vector>

#include "elf.hpp"

namespace urakata {
namespace {

using namespace std::string_view_literals;

constexpr std::array kLaunchers = {"mpirun"sv, "mpiexec"sv, "srun"sv, "prterun"sv, "prun"sv,  "orterun"sv,
                                   "aprun"sv,  "jsrun"sv,   "flux"sv, "salloc"sv,  "sbatch"sv};
constexpr std::array kShells = {"sh"sv, "bash"sv, "dash"sv, "zsh"sv, "ksh"sv, "csh"sv, "tcsh"sv, "fish"sv, "busybox"sv};
constexpr std::array kWrappers = {"env"sv,    "taskset"sv, "numactl"sv, "nice"sv,   "time"sv,    "timeout"sv,
                                  "stdbuf"sv, "setsid"sv,  "chrt"sv,    "ionice"sv, "nohup"sv,   "prlimit"sv,
                                  "strace"sv, "ltrace"sv,  "perf"sv,    "gdb"sv,    "valgrind"sv};
constexpr int kDeepestScript = 4;  // as in the kernel

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// "mpirun", "mpirun.openmpi", "mpiexec.mpich".
bool is_launcher(std::string_view name) { return among(kLaunchers, name.substr(0, name.find('.'))); }

std::string real_path(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  std::string result = real != nullptr ? real : path;
  std::free(real);
  return result;
}

bool runnable_file(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && access(path.c_str(), X_OK) == 0;
}

// The program's file; empty where there is none, and `denied` then names a file that may not be run.
std::string search_path(std::string_view name, std::string& denied) {
  const char* variable = std::getenv("PATH");
  std::string_view list = variable != nullptr ? variable : "/bin:/usr/bin";
  while (true) {
    const std::size_t end = std::min(list.find(':'), list.size());
    const std::string folder = end == 0 ? "." : std::string(list.substr(0, end));
    std::string path = folder + "/" + std::string(name);
    if (runnable_file(path)) return path;
    if (denied.empty() && access(path.c_str(), F_OK) == 0) denied = path;
    if (end == list.size()) return {};
    list.remove_prefix(end + 1);
  }
}

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

// Follows "#!" lines to the program that runs the file. A file that is neither script nor ELF is run by the shell.
std::string interpreter_of(const std::string& path) {
  std::string file = path;
  for (int depth = 0; depth < kDeepestScript; ++depth) {
    std::ifstream input(file, std::ios::binary);
    std::array<char, 4> start{};
    input.read(start.data(), start.size());
    const std::string_view magic(start.data(), static_cast<std::size_t>(input.gcount()));
    if (magic == "\177ELF"sv) return file;
    if (!magic.starts_with("#!")) return "/bin/sh";
    input.clear();
    input.seekg(2);
    std::string line;
    std::getline(input, line);
    const std::vector<std::string> parts = words(line);
    if (parts.empty()) return "/bin/sh";
    file = parts.front();
    if (base_name(file) == "env") file = through_env(std::span(parts).subspan(1));
    if (file.empty()) return {};
  }
  return file;
}

// Raises its own rights when started: the linker then ignores LD_PRELOAD.
bool is_privileged(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return false;
  const bool user = (about.st_mode & S_ISUID) != 0 && about.st_uid != getuid();
  const bool group = (about.st_mode & S_ISGID) != 0 && about.st_gid != getgid();
  return user || group || (getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0);
}

void judge(Program& program) {
  const std::string_view name = base_name(program.path);
  const std::string runner = real_path(program.interpreter);
  if (is_launcher(name)) {
    program.reach = Reach::launcher;
  } else if (name == "urakata-exec") {
    program.reach = Reach::again;
  } else if (among(kShells, base_name(program.interpreter)) || among(kShells, base_name(runner))) {
    program.reach = Reach::shell;
  } else if (program.path == program.interpreter && among(kWrappers, name)) {
    program.reach = Reach::wrapper;
  } else if (is_privileged(runner)) {
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
  } else if (access(std::string(name).c_str(), F_OK) == 0) {
    denied = name;
  } else if (errno == EACCES) {
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
  program.interpreter = interpreter_of(program.path);
  if (program.interpreter.empty() || !runnable_file(program.interpreter)) {
    failure = {126, "cannot run " + program.path + ": its interpreter (first line) is not there"};
    return false;
  }
  judge(program);
  return true;
}

}  // namespace urakata
