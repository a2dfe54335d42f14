// SPDX-License-Identifier: BSD-3-Clause
#include "linked_tools.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "base/preload_env.hpp"
#include "base/program_file.hpp"

namespace urakata {
namespace {

// Libraries of an MPI that stand in front of its main one and also define functions of its C interface.
bool belongs_to_an_mpi(std::string_view file) {
  constexpr std::array<std::string_view, 6> kStems = {"libmpi_mpifh.", "libmpi_usempi", "libmpifort",
                                                      "libmpichfort",  "libmpi_ilp64.", "libpmpi."};
  return file.starts_with(kLibraryPrefix) ||
         std::ranges::any_of(kStems, [&](std::string_view stem) { return file.starts_with(stem); });
}

// A preloaded tool is looked up as if the program itself needed it. An RPATH of the library that needs the tool then
// no longer counts for what the tool needs in turn.
bool finds_the_same(const Loader& tool, const Loader& program, LibrarySearch& libraries) {
  struct Places {
    Loader linked;
    Loader preloaded;
  };
  std::deque<Places> found;  // a deque keeps its elements in place: later ones point at earlier ones
  found.push_back({tool, {tool.path, tool.elf, &program}});
  std::unordered_set<std::string> seen;
  for (std::size_t next = 0; next < found.size(); ++next) {
    const Places& one = found[next];
    for (const std::string& name : one.linked.elf.needed) {
      if (!seen.insert(name).second) continue;
      const std::string path = libraries.find(name, &one.linked);
      if (path != libraries.find(name, &one.preloaded)) return false;
      Result<Elf> elf = path.empty() ? Error{"not there"} : read_elf(path);
      if (elf) found.push_back({{path, *elf, &one.linked}, {path, *elf, &one.preloaded}});
    }
  }
  return true;
}

// Whether a library between the program and the tool has an RPATH of its own.
bool found_by_rpath(const Loader& tool, const Loader& program) {
  for (const Loader* one = tool.loader; one != nullptr && one != &program; one = one->loader) {
    if (!one->elf.rpath.empty() && one->elf.runpath.empty()) return true;
  }
  return false;
}

}  // namespace

std::vector<const Loader*> tools_among(const MpiNeed& need, std::size_t first, const std::vector<std::string>& ours) {
  std::vector<const Loader*> tools;
  std::unordered_set<std::string> defined_by_ours;  // functions; read when the first candidate is found
  for (std::size_t i = first; i < need.before.size(); ++i) {
    const Loader& one = *need.before[i];
    if (belongs_to_an_mpi(base_name(one.path))) continue;
    const std::vector<std::string> names = exported_functions(one.path, "MPI");
    if (names.empty()) continue;
    if (defined_by_ours.empty()) {
      for (const std::string& path : ours) {
        for (std::string& name : exported_functions(path, "MPI")) defined_by_ours.insert(std::move(name));
      }
    }
    if (std::ranges::any_of(names, [&](const std::string& name) { return defined_by_ours.contains(name); })) {
      tools.push_back(&one);
    }
  }
  return tools;
}

LinkedTools linked_tools(const MpiNeed& need, const std::vector<std::string>& preloaded,
                         const std::vector<std::string>& ours, LibrarySearch& libraries) {
  LinkedTools result;
  if (need.before.empty()) return result;
  const Loader& program = *need.before.front();
  std::unordered_set<std::string> in_front;
  for (const std::string& path : preloaded) in_front.insert(real_path(path));
  for (const Loader* const tool : tools_among(need, 1, ours)) {
    if (in_front.contains(real_path(tool->path))) continue;
    std::error_code failed;
    const std::string path = std::filesystem::absolute(tool->path, failed).string();
    std::string why;
    if (path.find_first_of(" :") != std::string::npos) {
      why = "its path has a blank or colon, which the linker cannot preload; move it to another folder";
    } else if (found_by_rpath(*tool, program) && !finds_the_same(*tool, program, libraries)) {
      why = "libraries that it needs are found only by the RPATH of " + tool->loader->path +
            "; add their folder to LD_LIBRARY_PATH";
    }
    if (why.empty()) {
      result.preloads.push_back(std::string(kLinkedToolMark) + path);
    } else {
      result.unseeing.push_back("the MPI tool " + tool->path + ", which " + program.path +
                                " is linked to, sees no call of the program: " + why);
    }
  }
  return result;
}

}  // namespace urakata
