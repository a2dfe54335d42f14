// SPDX-License-Identifier: BSD-3-Clause
// The neighbours of this rank on a communicator with a topology, as the MPI library has them.
//
// Thread-safety: by any thread that may call the MPI library.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/collectives.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

// The neighbourhood collectives in which several blocks between two ranks may differ. MPI libraries order such blocks
// differently by these forms, and by blocking or not.
enum class Form : std::uint8_t { alltoall, alltoallv, alltoallw, count_ };
inline constexpr auto kForms = static_cast<std::size_t>(Form::count_);

struct Neighbours {
  std::vector<std::uint32_t> destinations, sources;  // as collectives::Neighbourhood has them
  std::vector<std::uint32_t>
      turned;  // Neighbourhood::order if blocks do not meet in order: on a grid, what is sent down meets what comes
               // from above; on a graph, the last meets the first
  struct Ordered {  // whether blocks between two ranks meet in order, by form
    std::array<bool, kForms> blocking = {true, true, true};
    std::array<bool, kForms> started = {true, true, true};  // non-blocking and persistent
  };
  Ordered in_order;

  collectives::Neighbourhood view(Form form, bool blocking) const {
    const std::array<bool, kForms>& of = blocking ? in_order.blocking : in_order.started;
    return {destinations, sources,
            of[static_cast<std::size_t>(form)] ? std::span<const std::uint32_t>() : std::span(turned)};
  }
};

// nullopt: the communicator has no topology. Local. If a rank is a neighbour twice, this rank finds out which of two
// blocks goes to which place, by exchanges with itself, once for grids and once for graphs. MPI libraries differ in
// this from the standard and from each other.
std::optional<Neighbours> read_neighbours(MPI_Comm handle);

}  // namespace urakata::shim
