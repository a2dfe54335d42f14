// SPDX-License-Identifier: BSD-3-Clause
#include "cores.hpp"

#include <hwloc.h>

#include <memory>

namespace urakata {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};

Topology read(hwloc_topology_t topology) {
  Topology found;
  // If the system shows no cores (some containers), each hardware thread counts as a core.
  const bool cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology, type, core)) != nullptr;) {
    Core one;
    for (int cpu = hwloc_bitmap_first(core->cpuset); cpu >= 0; cpu = hwloc_bitmap_next(core->cpuset, cpu)) {
      if (static_cast<std::size_t>(cpu) < CpuSet::kLimit) one.cpus.add(static_cast<std::size_t>(cpu));
    }
    const int memory = core->nodeset != nullptr ? hwloc_bitmap_first(core->nodeset) : -1;
    one.node = memory < 0 ? 0 : static_cast<unsigned>(memory);
    if (!one.cpus.empty()) found.cores.push_back(one);
  }
  return found;
}

}  // namespace

Result<Topology> find_cores() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return Error{"hwloc cannot start"};
  const std::unique_ptr<hwloc_topology, Destroy> owner(topology);
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  // hwloc attaches memory to these objects. Without them all memory would belong to the whole machine.
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  if (hwloc_topology_load(topology) != 0) return Error{"hwloc cannot read the node's topology"};
  return read(topology);
}

}  // namespace urakata
