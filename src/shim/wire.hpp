// Bringing up transport `wire`: who can be reached where, found out by all ranks together in MPI_Init.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "shim/abi.hpp"
#include "transport/wire.hpp"

namespace urakata::shim {

struct OpenWire {
  std::unique_ptr<transport::Wire> wire;  // nullptr: all messages go through the host
  std::string why;                        // one sentence for the report
};

// Collective over `world`, a communicator of all ranks whose errors are returned. nodes[rank]: the lowest rank on that
// rank's node. Where there are several nodes, and no network that is better than TCP (or the option TRANSPORT says
// wire), opens a door on each, and has the first rank of each node try those of the next node's addresses.
OpenWire open_wire(MPI_Comm world, int rank, std::span<const std::int32_t> nodes, transport::Failures& failures);

}  // namespace urakata::shim
