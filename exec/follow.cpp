// liburakata-follow.so: for what is no rank but starts one: shells and their scripts, env, taskset, numactl and their like.
//
// It stands in front of the functions that replace a process. Where the new program is one with MPI, urakata-exec comes
// in between, as if the user had written it there; a launcher does not get this library. All else passes as it is, and programs started by it
// have this library in their turn.
//
// Contract. As execve(2): it may be called by any thread, and in a copy made by fork or vfork. Memory that it takes there is not
// given back, since a call that succeeds does not return.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/preload_env.hpp"
#include "base/program_file.hpp"
#include "mpi_need.hpp"
#include "program.hpp"
#include "space/registry.hpp"

namespace urakata {
namespace {

using Execve = int (*)(const char*, char* const*, char* const*);
using Execvpe = int (*)(const char*, char* const*, char* const*);

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

// Options that urakata-exec has settled for its ranks. `env -i` takes them out of the environment.
std::vector<std::string>& settled() {
  static auto& all = *new std::vector<std::string>;
  return all;
}

[[gnu::constructor]] void keep_settled() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with("URAKATA_")) settled().emplace_back(*entry);
  }
}

bool starts_with_name(const char* entry, std::string_view setting) {
  return std::string_view(entry).starts_with(setting.substr(0, setting.find('=') + 1));
}

// Interpreters that load MPI late. Of other programs that load something one cannot tell that it is MPI.
bool loads_mpi_late(const Program& program, const MpiNeed& need) {
  const std::string_view name = base_name(program.interpreter);
  return need.loads_late && (name.starts_with("python") || name.starts_with("pypy") || name.starts_with("julia"));
}

enum class Next { rank, launcher, other };

Next look_at(const std::string& path) {
  Program program;
  if (NotStarted failure; !find_program(path, program, failure)) return Next::other;
  if (program.reach == Reach::launcher) return Next::launcher;
  if (program.reach != Reach::preload) return Next::other;
  const MpiNeed need = MpiSearch().need_of(program.interpreter);
  const bool known = need.abi != Abi::none && need.abi != Abi::unknown;
  return known || loads_mpi_late(program, need) ? Next::rank : Next::other;
}

// The file that execvp would run; empty: none, and execvp says why.
std::string in_path(const char* name) {
  const std::string_view words = name;
  if (words.find('/') != std::string_view::npos) return name;
  std::string denied;
  return search_path(words, denied);
}

// The result of execve: it returns only with an error. `otherwise` is the call as it was made.
template <class Otherwise>
int replace(const std::string& path, char* const* arguments, char* const* environment, Otherwise otherwise) {
  const Next next = path.empty() || arguments == nullptr || arguments[0] == nullptr ? Next::other : look_at(path);
  if (next == Next::other) return otherwise();
  std::vector<char*> variables;
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) variables.push_back(*entry);
  if (next == Next::launcher) {
    const std::string job = std::string(space::kJobVariable) + "=";  // its ranks are another's
    std::erase_if(variables, [&](const char* entry) { return std::string_view(entry).starts_with(job); });
    std::string list;  // LD_PRELOAD as it was before us
    for (char*& entry : variables) {
      if (!std::string_view(entry).starts_with("LD_PRELOAD=")) continue;
      list = entry;
      keep_other_preloads(list.data() + std::string_view("LD_PRELOAD=").size());
      entry = list.data();
    }
    variables.push_back(nullptr);
    return real<Execve>("execve")(path.c_str(), arguments, variables.data());
  }
  static const std::string& program = *new std::string(exec_program());
  if (program.empty()) return otherwise();
  for (std::string& setting : settled()) {
    bool there = false;
    for (const char* entry : variables) there = there || starts_with_name(entry, setting);
    if (!there) variables.push_back(setting.data());
  }
  variables.push_back(nullptr);
  std::string separator = "--";
  std::string file = path;
  // The name that the program is to see, where that leads to the same file.
  char* const name = in_path(arguments[0]) == path ? arguments[0] : file.data();
  std::vector<char*> words = {const_cast<char*>(program.c_str()), separator.data(), name};
  for (char* const* word = arguments + 1; *word != nullptr; ++word) words.push_back(*word);
  words.push_back(nullptr);
  return real<Execve>("execve")(program.c_str(), words.data(), variables.data());
}

}  // namespace
}  // namespace urakata

extern "C" {

__attribute__((visibility("default"))) int execve(const char* path, char* const* arguments, char* const* environment) {
  using namespace urakata;
  return replace(path, arguments, environment, [&] { return real<Execve>("execve")(path, arguments, environment); });
}

__attribute__((visibility("default"))) int execv(const char* path, char* const* arguments) {
  using namespace urakata;
  return replace(path, arguments, environ, [&] { return real<Execve>("execve")(path, arguments, environ); });
}

__attribute__((visibility("default"))) int execvpe(const char* name, char* const* arguments, char* const* environment) {
  using namespace urakata;
  return replace(in_path(name), arguments, environment,
                 [&] { return real<Execvpe>("execvpe")(name, arguments, environment); });
}

__attribute__((visibility("default"))) int execvp(const char* name, char* const* arguments) {
  using namespace urakata;
  return replace(in_path(name), arguments, environ, [&] { return real<Execvpe>("execvpe")(name, arguments, environ); });
}
}
