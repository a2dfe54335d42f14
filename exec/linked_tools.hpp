// SPDX-License-Identifier: BSD-3-Clause
// PMPI tools in libraries that a program is linked to: they define MPI_X and call PMPI_X (Score-P, Darshan, mpiP).
//
// Without Urakata the linker finds a tool's MPI_X before the MPI library's. Urakata's preload library would come before
// both, and the tool would see no call. So such tools are preloaded in front of Urakata's library, in the order in
// which the linker looks through them. What a tool does not define then comes from Urakata's library, as does each
// PMPI_X.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpi_need.hpp"

namespace urakata {

struct LinkedTools {
  std::vector<std::string> preloads;  // entries for LD_PRELOAD, in order; forget_preload() takes them out again
  std::vector<std::string> unseeing;  // one sentence for each tool that cannot be preloaded, and so sees no call
};

// The tools among `need.before`, from its entry `first` on: the libraries that define an MPI function which one of
// `ours` defines, too. `ours`: Urakata's library for this MPI, and the profile library if it is preloaded; empty paths
// are ignored.
std::vector<const Loader*> tools_among(const MpiNeed& need, std::size_t first, const std::vector<std::string>& ours);

// `preloaded` are the user's own preloads, which are in need.before, too. They are in front of Urakata's library
// anyway.
LinkedTools linked_tools(const MpiNeed& need, const std::vector<std::string>& preloaded,
                         const std::vector<std::string>& ours, LibrarySearch& libraries);

}  // namespace urakata
