// urakata-probe LIBRARY...: what `urakata check` cannot know without being a rank. Started by the host's launcher like
// any program, it loads the first of the MPI libraries that loads, asks for the highest thread level, and prints one
// line of JSON: the host's version and thread level, this rank's CPUs, where its helpers would sit, and whether it
// lives in a space.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "base/options.hpp"
#include "base/topology.hpp"
#include "cores.hpp"
#include "json_text.hpp"
#include "mpi_need.hpp"
#include "space/registry.hpp"

namespace urakata {
namespace {

constexpr const char* kUsage = R"(usage: urakata-probe LIBRARY...

Says as one line of JSON what a rank finds where it is started: the host MPI, of which LIBRARY is the file (the first
that loads), its thread level, this rank's CPUs, where its helpers would sit, and whether it lives in a space.
`urakata check` starts it and shows what it says.

Example:
  mpirun -n 2 urakata-probe libmpi.so.40
)";

constexpr std::size_t kVersionText = 8192;  // MPI_MAX_LIBRARY_VERSION_STRING is at most this in every ABI

std::string field(std::string_view key, std::string_view value) { return json_text(key) + ": " + json_text(value); }

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// The levels' numbers differ between ABIs, their order does not.
struct ThreadLevels {
  int single, funneled, serialized, multiple;
};
constexpr ThreadLevels kCommonLevels = {0, 1, 2, 3};
constexpr ThreadLevels kStandardLevels = {0, 1024, 2048, 4096};

std::string_view level_name(const ThreadLevels& levels, int level) {
  if (level >= levels.multiple) return "multiple";
  if (level >= levels.serialized) return "serialized";
  return level >= levels.funneled ? "funneled" : "single";
}

// Starts and ends MPI, and says what it is. The fields of the host, or "error".
std::string ask_host(std::span<char*> libraries) {
  void* library = nullptr;
  std::string name;
  std::string why = "no MPI library was named";
  for (const char* candidate : libraries) {
    library = dlopen(candidate, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
      why = dlerror();
      continue;
    }
    name = candidate;
    break;
  }
  int (*init)(int*, char***, int, int*) = nullptr;
  int (*version)(char*, int*) = nullptr;
  int (*finalize)() = nullptr;
  if (library == nullptr) return field("error", why);
  if (!find(library, "MPI_Init_thread", init) || !find(library, "MPI_Get_library_version", version) ||
      !find(library, "MPI_Finalize", finalize)) {
    return field("error", name + " is no MPI library");
  }
  const Abi abi = abi_of_library(std::string_view(name).substr(name.rfind('/') + 1));
  const ThreadLevels& levels = abi == Abi::standard ? kStandardLevels : kCommonLevels;
  int provided = 0;
  if (init(nullptr, nullptr, levels.multiple, &provided) != 0) return field("error", "MPI_Init_thread failed");
  std::array<char, kVersionText> text{};
  int length = 0;
  version(text.data(), &length);
  finalize();
  std::string_view line(text.data());
  line = line.substr(0, line.find('\n'));
  return field("library", name) + ", " + field("abi", urakata::name(abi)) + ", " + field("version", line) + ", " +
         field("thread_level", level_name(levels, provided));
}

std::string placement(const Topology& topology, const Crew& crew, PlacementWish wish) {
  const Placement found = place_helpers(topology, crew, wish, options().helper_cpus, options().domains);
  CpuSet cpus;
  for (const CpuSet& one : found.helpers) cpus = cpus | one;
  return json_text(name(wish)) + ": {\"spare\": " + (found.spare ? "true" : "false") + ", " +
         field("cpus", cpus.text()) + ", " + field("reason", found.reason) + ", " + field("refusal", found.refusal) +
         "}";
}

int probe(std::span<char*> libraries) {
  const std::string host = ask_host(libraries);
  // After MPI_Init, since some hosts bind only then.
  const Crew crew = crew_of_this_process();
  const Result<Topology> found = find_cores();
  const Topology topology = found && !found->cores.empty() ? *found : Topology::of_this_node();
  std::string line = "{\"rank\": " + std::to_string(crew.rank) + ", \"ranks\": " + std::to_string(crew.ranks) +
                     ", \"host\": {" + host + "}, " + field("cpus", crew.mask.text()) +
                     ", \"cores\": " + std::to_string(topology.within(crew.mask).size()) +
                     ", \"node_cores\": " + std::to_string(topology.cores.size()) +
                     ", \"threads\": " + std::to_string(crew.threads) +
                     ", \"in_space\": " + (space::own_space() ? "true" : "false") + ", \"placement\": {";
  line += placement(topology, crew, PlacementWish::automatic) + ", " + placement(topology, crew, PlacementWish::spare) +
          ", " + placement(topology, crew, PlacementWish::shared) + "}, \"oversubscribed\": ";
  line += place_helpers(topology, crew, PlacementWish::shared, "", 1).oversubscribed ? "true}\n" : "false}\n";
  return std::fputs(line.c_str(), stdout) < 0 ? 1 : 0;
}

}  // namespace
}  // namespace urakata

int main(int count, char** arguments) {
  const auto libraries = std::span(arguments, static_cast<std::size_t>(count)).subspan(1);
  if (!libraries.empty() && (libraries[0] == std::string_view("--help") || libraries[0] == std::string_view("-h"))) {
    return std::fputs(urakata::kUsage, stdout) < 0 ? 1 : 0;
  }
  return urakata::probe(libraries);
}
