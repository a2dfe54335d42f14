// SPDX-License-Identifier: BSD-3-Clause
// The offload of a communicator's small collectives (xdp/offload.hpp), or why there is none.
//
// Thread-safety: by any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "job/bootstrap.hpp"
#include "xdp/offload.hpp"

namespace urakata::shim {

// Collective over the communicator of these ranks of MPI_COMM_WORLD, each on a node of its own. nullptr, on all ranks
// alike: eBPF code computes no collectives of the communicator. The reason is logged once: as a warning if eBPF code is
// attached for this user on one of these nodes, since it is wanted then, else as information.
std::unique_ptr<xdp::Offload> open_offload(job::Bootstrap& members, const std::vector<std::int32_t>& world);

}  // namespace urakata::shim
