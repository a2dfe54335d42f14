// SPDX-License-Identifier: BSD-3-Clause
// urakata-probe LIBRARY...: finds out for `urakata check` what only a rank can know. The MPI library's launcher starts
// it like any program. It loads the first of the MPI libraries that can be loaded, asks for the highest thread level,
// and prints one line of JSON. That line has the library's version and thread level, this rank's CPUs, the CPUs of its
// progress threads, the available engines, the interfaces by which its node reaches others, and whether it is in a
// space. With --job it only starts and ends MPI. Under urakata-exec, the preloaded library then inspects this job as
// any other, and reports it.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/interfaces.hpp"
#include "base/json.hpp"
#include "base/options/options.hpp"
#include "base/result.hpp"
#include "base/topology.hpp"
#include "cores.hpp"
#include "ebpf_here.hpp"
#include "engine/kernel_engine.hpp"
#include "mpi_need.hpp"
#include "space/registry.hpp"
#include "tune/engine_choice.hpp"
#include "tune/messages_choice.hpp"
#include "tune/thread_placement.hpp"

namespace urakata {
namespace {

constexpr const char* kUsage = R"(usage: urakata-probe [--job] LIBRARY...

Says as one line of JSON what a rank finds where it is started: the MPI library, of which LIBRARY is the file (the first
that loads), its thread level, this rank's CPUs, where its progress thread would sit, which engines are to be had and,
where not, why, by which interfaces its node reaches others, and whether it lives in a space.
`urakata check` starts it and shows what it says. With --job it is a job that does nothing, and says nothing.

Example:
  mpirun -n 2 urakata-probe libmpi.so.40
  mpirun -n 8 urakata-exec --link-rates links.toml -- urakata-probe --job libmpi.so.40
)";

constexpr std::size_t kVersionText = 8192;  // MPI_MAX_LIBRARY_VERSION_STRING is at most this in every ABI

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// The numbers of the thread levels differ between ABIs, their order does not.
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

// Starts and ends MPI. Writes the fields about the MPI library, or "error". Returns whether it allows calls by several
// threads at once.
bool ask_library(std::span<char*> libraries, JsonWriter& json) {
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
  const auto fail = [&json](std::string_view reason) {
    json.key("error").string(reason);
    return false;
  };
  if (library == nullptr) return fail(why);
  if (!find(library, "MPI_Init_thread", init) || !find(library, "MPI_Get_library_version", version) ||
      !find(library, "MPI_Finalize", finalize)) {
    return fail(name + " is no MPI library");
  }
  const Abi abi = abi_of_library(std::string_view(name).substr(name.rfind('/') + 1));
  const ThreadLevels& levels = abi == Abi::standard ? kStandardLevels : kCommonLevels;
  int provided = 0;
  if (init(nullptr, nullptr, levels.multiple, &provided) != 0) return fail("MPI_Init_thread failed");
  std::array<char, kVersionText> text{};
  int length = 0;
  version(text.data(), &length);
  finalize();
  std::string_view line(text.data());
  line = line.substr(0, line.find('\n'));
  json.key("library").string(name).key("abi").string(urakata::name(abi)).key("version").string(line);
  json.key("thread_level").string(level_name(levels, provided));
  return provided >= levels.multiple;
}

void put(JsonWriter& json, const Topology& topology, const NodeRanks& node_ranks, PlacementWish wish) {
  const tune::Placement found = tune::place_progress_threads(topology, node_ranks, wish, options().progress_cpus);
  json.key(name(wish))
      .object()
      .key("spare")
      .boolean(found.spare)
      .key("within_node")
      .boolean(found.within_node)
      .key("cpus")
      .string(found.progress_thread.text());
  json.key("reason").string(found.reason).key("refusal").string(found.refusal).end();
}

void put_interfaces(JsonWriter& json, std::span<const std::string> interfaces) {
  json.key("interfaces").array();
  for (const std::string& interface : interfaces) json.string(interface);
  json.end();
}

void put_engines(JsonWriter& json, bool threads, const tune::Placement& placement,
                 std::span<const std::string> interfaces) {
  const std::string no_kernel = tune::kernel_obstacle(engine::why_no_kernel_engine(), placement);
  json.key("engines").array();
  for (const tune::EngineFinding& engine : tune::find_engines(threads, placement, no_kernel)) {
    const bool kernel = engine.usable && engine.name == name(EngineKind::kernel);
    json.object().key("name").string(engine.name).key("usable").boolean(engine.usable);
    json.key("why").string(kernel ? engine.why + "; " + ebpf_here(interfaces) : engine.why).end();
  }
  json.end();
}

int probe(std::span<char*> libraries) {
  JsonWriter json;
  json.object().key("mpi_library").object();
  const bool threads = ask_library(libraries, json);
  json.end();
  // Read after MPI_Init, since some MPI libraries bind only then.
  const NodeRanks node_ranks = ranks_of_this_node();
  const Result<Topology> found = find_cores();
  const Topology topology = found && !found->cores.empty() ? *found : Topology::of_this_node();
  json.key("rank")
      .number(node_ranks.rank)
      .key("ranks")
      .number(node_ranks.ranks)
      .key("cpus")
      .string(node_ranks.mask.text());
  json.key("cores").number(topology.within(node_ranks.mask).size()).key("node_cores").number(topology.cores.size());
  json.key("threads").number(node_ranks.threads).key("in_space").boolean(space::own_space().has_value());
  json.key("placement").object();
  for (const PlacementWish wish : {PlacementWish::automatic, PlacementWish::spare, PlacementWish::shared}) {
    put(json, topology, node_ranks, wish);
  }
  json.end();
  const Options& wish = options();
  const std::vector<std::string> interfaces = interface_names(wish.wire_interface);
  put_interfaces(json, interfaces);
  json.key("no_interface").string(why_no_interface(wish.wire_interface));
  put_engines(json, threads,
              tune::place_progress_threads(topology, node_ranks, PlacementWish::automatic, wish.progress_cpus),
              interfaces);
  json.key("messages").string(tune::messages_rule(wish.wire_messages));
  const bool crowded = tune::place_progress_threads(topology, node_ranks, PlacementWish::shared, "").oversubscribed;
  json.key("oversubscribed").boolean(crowded).end();
  return std::puts(json.text().c_str()) < 0 ? 1 : 0;
}

// A job that only starts and ends MPI.
int begin_and_end(std::span<char*> libraries) {
  JsonWriter json;
  json.object();
  ask_library(libraries, json);
  json.end();
  if (json.text().find("\"error\"") == std::string::npos) return 0;
  std::fprintf(stderr, "%s\n", json.text().c_str());
  return 1;
}

}  // namespace
}  // namespace urakata

int main(int count, char** arguments) {
  const auto libraries = std::span(arguments, static_cast<std::size_t>(count)).subspan(1);
  if (!libraries.empty() && (libraries[0] == std::string_view("--help") || libraries[0] == std::string_view("-h"))) {
    return std::fputs(urakata::kUsage, stdout) < 0 ? 1 : 0;
  }
  if (!libraries.empty() && libraries[0] == std::string_view("--job")) {
    return urakata::begin_and_end(libraries.subspan(1));
  }
  return urakata::probe(libraries);
}
