// SPDX-License-Identifier: BSD-3-Clause
#include "preload.hpp"

#include <linux/limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/preload_env.hpp"
#include "base/program_file.hpp"
#include "elf.hpp"
#include "linked_tools.hpp"
#include "mpi_need.hpp"
#include "profile_library.hpp"

namespace urakata {
namespace {

// The folder of this program, PREFIX/bin.
std::string own_folder() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length <= 0) return {};
  std::string folder(path.data(), static_cast<std::size_t>(length));
  folder.resize(folder.rfind('/'));
  return folder;
}

Preload untouched(std::string why) {
  Preload none;
  none.untouched = std::move(why);
  return none;
}

// The library that follows the program to the rank that it starts. The program's dynamic linker must preload it.
Preload follow(const Program& program, const std::string& libraries) {
  const std::string runner = real_path(program.interpreter);
  const Result<Elf> elf = read_elf(runner);
  Preload preload;
  preload.library = libraries + "/" + std::string(kLibraryPrefix) + "follow.so";
  preload.follows = true;
  const bool possible = elf.ok() && elf->dynamic && !elf->foreign && !raises_rights(runner) &&
                        libraries.find_first_of(" :") == std::string::npos;
  if (possible && access(preload.library.c_str(), R_OK) == 0) return preload;
  return untouched(program.path +
                   " starts another program, and Urakata cannot follow it there; put urakata-exec in front of the MPI "
                   "program, where it is started");
}

// The files that the user preloads into the program.
std::vector<std::string> preloads_of_the_user(LibrarySearch& libraries) {
  std::vector<std::string> files;
  const char* list = std::getenv("LD_PRELOAD");
  for (const std::string& name : other_preloads(list == nullptr ? "" : list)) {
    if (std::string file = libraries.find(name, nullptr); !file.empty()) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

Preload choose_preload(const Program& program, const std::string& libraries) {
  const std::string& path = program.path;
  switch (program.reach) {
    case Reach::never:
      return untouched(path + " " + program.why + "; it runs untouched");
    case Reach::shell:
    case Reach::wrapper:
      return follow(program, libraries);
    case Reach::debugger:
      return untouched(path + " starts another program; put urakata-exec behind it, in front of the MPI program");
    case Reach::again:
    case Reach::launcher:
      return {};
    case Reach::preload:
      break;
  }
  MpiSearch search;
  const std::vector<std::string> preloaded = preloads_of_the_user(search.libraries());
  const MpiNeed need = search.need_of(program.interpreter, preloaded);
  if (need.abi == Abi::unknown) {
    return untouched(path + " needs " + need.library +
                     ", which Urakata does not know (it knows libmpi.so.40, libmpi.so.12, "
                     "libmpich.so.12 and libmpi_abi.so.1); it runs untouched");
  }
  if (need.abi == Abi::none && !need.loads_late) {
    return untouched(path + " needs no MPI library and loads none later; it runs untouched");
  }
  const std::string stem = need.abi == Abi::none ? "late" : std::string(name(need.abi));
  Preload preload;
  preload.library = libraries + "/" + std::string(kLibraryPrefix) + stem + ".so";
  if (libraries.find_first_of(" :") != std::string::npos) {
    return untouched(libraries +
                     " has a blank or colon in its name, which the linker cannot preload from; install Urakata "
                     "elsewhere. " +
                     path + " runs untouched");
  }
  if (access(preload.library.c_str(), R_OK) != 0) {
    return untouched("there is no " + preload.library + " in this build of Urakata" +
                     (need.library.empty() ? "" : ", for the " + need.library + " of " + path) + "; it runs untouched");
  }
  if (need.abi != Abi::none) {
    preload.profile = profile_library(need.abi, libraries);
    preload.tools = linked_tools(need, preloaded, {preload.library, preload.profile}, search.libraries());
  }
  return preload;
}

std::string library_folder() {
  std::string folder = own_folder();
  folder.resize(std::min(folder.rfind('/'), folder.size()));  // PREFIX
  return folder.empty() ? folder : folder + "/lib/urakata";
}

std::string program_beside(const std::string& name) {
  const std::string folder = own_folder();
  return folder.empty() ? folder : folder + "/" + name;
}

void add_preload(const Preload& preload) {
  forget_preload();  // of a urakata-exec around this one
  std::string list;
  const auto add = [&](const std::string& entry) {
    if (!entry.empty()) list += (list.empty() ? "" : ":") + entry;
  };
  bool added = false;
  const auto add_ours = [&] {
    if (std::exchange(added, true)) return;
    for (const std::string& tool : preload.tools.preloads) add(tool);
    add(preload.profile);
    add(preload.library);
  };
  LibrarySearch libraries;
  const char* before = std::getenv("LD_PRELOAD");
  for (const std::string& entry : other_preloads(before == nullptr ? "" : before)) {
    const Result<Elf> elf = read_elf(libraries.find(entry, nullptr));
    if (elf && abi_of_library(elf->soname) != Abi::none) add_ours();
    add(entry);
  }
  add_ours();
  setenv("LD_PRELOAD", list.c_str(), 1);
}

}  // namespace urakata
