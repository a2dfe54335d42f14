// SPDX-License-Identifier: BSD-3-Clause
// liburakata-follow.so: preloaded into programs that start a rank, such as shells, scripts, env, taskset and numactl.
//
// It interposes the functions that replace or start a process. If the new program uses MPI, urakata-exec is started in
// front of it, as if the user had typed it there. A launcher is started without this library. Any other program is
// started unchanged, and inherits this library.
//
// Contract, as for execve(2): any thread may call the functions, also in a child made by fork or vfork. Memory that
// they allocate is not freed, since a call that succeeds does not return.
#include <dlfcn.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/options/options.hpp"
#include "base/preload_env.hpp"
#include "base/program_file.hpp"
#include "mpi_need.hpp"
#include "program.hpp"
#include "space/registry.hpp"

namespace urakata {
namespace {

using Execve = int (*)(const char*, char* const*, char* const*);
using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                      char* const*);

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// PREFIX/bin/urakata-exec, from PREFIX/lib/urakata.
std::string exec_program() {
  Dl_info about{};
  if (dladdr(reinterpret_cast<const void*>(&exec_program), &about) == 0 || about.dli_fname == nullptr) return {};
  std::string path = about.dli_fname;
  for (int i = 0; i < 3; ++i) path.resize(std::min(path.rfind('/'), path.size()));
  path += "/bin/urakata-exec";
  return access(path.c_str(), X_OK) == 0 ? path : std::string();
}

// The option variables that urakata-exec has set. They are added again if all of them are lost, as by `env -i`.
std::vector<std::string>& settled() {
  static auto& all = *new std::vector<std::string>;
  return all;
}

[[gnu::constructor]] void keep_settled() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with("URAKATA_")) settled().emplace_back(*entry);
  }
}

// Interpreters that load MPI late. If another program loads a library late, nothing tells that it is MPI.
bool loads_mpi_late(const Program& program, const MpiNeed& need) {
  const std::string_view name = base_name(program.interpreter);
  return need.loads_late && (name.starts_with("python") || name.starts_with("pypy") || name.starts_with("julia"));
}

enum class Next {
  rank,
  launcher,
  ours,   // urakata-exec
  other,  // anything else, such as another program that starts a rank
};

Next look_at(const std::string& path) {
  Program program;
  if (NotStarted failure; !find_program(path, program, failure)) return Next::other;
  if (program.reach == Reach::launcher) return Next::launcher;
  if (program.reach == Reach::again) return Next::ours;
  if (program.reach != Reach::preload) return Next::other;
  const MpiNeed need = MpiSearch().need_of(program.interpreter);
  const bool known = need.abi != Abi::none && need.abi != Abi::unknown;
  return known || loads_mpi_late(program, need) ? Next::rank : Next::other;
}

// The file that execvp would run; empty: none, and execvp tells why.
std::string in_path(const char* name) {
  const std::string_view words = name;
  if (words.find('/') != std::string_view::npos) return name;
  std::string denied;
  return search_path(words, denied);
}

bool sets(const char* entry, const char* name) {
  const std::string_view words = entry;
  return words.starts_with(name) && words.substr(std::string_view(name).size()).starts_with('=');
}

// The environment for a program that is not to have this library: LD_PRELOAD is as it was before Urakata.
std::vector<char*> without_us(char* const* environment) {
  std::vector<char*> variables;
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    if (sets(*entry, "LD_PRELOAD")) {
      auto& list = *new std::string(*entry);  // never freed, like all memory here
      keep_other_preloads(list.data() + std::string_view("LD_PRELOAD=").size());
      variables.push_back(list.data());
    } else {
      variables.push_back(*entry);
    }
  }
  return variables;
}

// Starts a rank, a launcher or urakata-exec by calling `start` with path, arguments and environment. For any other
// program makes the call as it is (`as_it_is`).
template <class Start, class AsItIs>
int replace(const std::string& path, char* const* arguments, char* const* environment, Start start, AsItIs as_it_is) {
  const Next next = path.empty() || arguments == nullptr || arguments[0] == nullptr ? Next::other : look_at(path);
  if (next == Next::other) return as_it_is();
  static const std::string& program = *new std::string(exec_program());
  if (program.empty()) return as_it_is();
  std::vector<char*> variables = without_us(environment);
  if (next == Next::launcher) {  // the launcher's ranks are another job
    std::erase_if(variables, [](const char* entry) { return sets(entry, space::kJobVariable); });
  }
  if (next != Next::rank) {
    variables.push_back(nullptr);
    return start(path.c_str(), arguments, variables.data());
  }
  const bool lost = std::ranges::none_of(variables, [](const char* entry) { return sets(entry, kOriginsVariable); });
  for (std::string& setting : settled()) {
    if (lost) variables.push_back(setting.data());
  }
  variables.push_back(nullptr);
  std::string separator = "--";
  std::string file = path;
  // The name that the program is to see as argv[0], if it leads to the same file.
  char* const name = in_path(arguments[0]) == path ? arguments[0] : file.data();
  std::vector<char*> words = {const_cast<char*>(program.c_str()), separator.data(), name};
  for (char* const* word = arguments + 1; *word != nullptr; ++word) words.push_back(*word);
  words.push_back(nullptr);
  return start(program.c_str(), words.data(), variables.data());
}

int real_execve(const char* path, char* const* arguments, char* const* environment) {
  return real<Execve>("execve")(path, arguments, environment);
}

}  // namespace
}  // namespace urakata

extern "C" {

#define URAKATA_FOLLOW __attribute__((visibility("default")))

URAKATA_FOLLOW int execve(const char* path, char* const* arguments, char* const* environment) {
  using namespace urakata;
  return replace(path, arguments, environment, real_execve, [&] { return real_execve(path, arguments, environment); });
}

URAKATA_FOLLOW int execv(const char* path, char* const* arguments) {
  using namespace urakata;
  return replace(path, arguments, environ, real_execve, [&] { return real_execve(path, arguments, environ); });
}

URAKATA_FOLLOW int execvpe(const char* name, char* const* arguments, char* const* environment) {
  using namespace urakata;
  return replace(in_path(name), arguments, environment, real_execve,
                 [&] { return real<Execve>("execvpe")(name, arguments, environment); });
}

URAKATA_FOLLOW int execvp(const char* name, char* const* arguments) {
  using namespace urakata;
  return replace(in_path(name), arguments, environ, real_execve,
                 [&] { return real<Execve>("execvpe")(name, arguments, environ); });
}

URAKATA_FOLLOW int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  using namespace urakata;
  const auto start = [&](const char* file, char* const* words, char* const* variables) {
    return real<Spawn>("posix_spawn")(process, file, actions, attributes, words, variables);
  };
  return replace(path, arguments, environment, start, [&] { return start(path, arguments, environment); });
}

URAKATA_FOLLOW int posix_spawnp(pid_t* process, const char* name, const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  using namespace urakata;
  const auto start = [&](const char* file, char* const* words, char* const* variables) {
    return real<Spawn>("posix_spawn")(process, file, actions, attributes, words, variables);
  };
  return replace(in_path(name), arguments, environment, start, [&] {
    return real<Spawn>("posix_spawnp")(process, name, actions, attributes, arguments, environment);
  });
}
}
