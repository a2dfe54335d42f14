// SPDX-License-Identifier: BSD-3-Clause
// The neighbours of this rank on a communicator with a topology, as the MPI library has them.
//
// Thread-safety: all by any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/collectives.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

// The operations in which several blocks between two ranks differ; each in its blocking form, too.
enum class Form : std::uint8_t { alltoall, alltoallv, alltoallw, count_ };
inline constexpr auto kForms = static_cast<std::size_t>(Form::count_);

struct Neighbours {
  std::vector<std::uint32_t> destinations, sources;  // as collectives::Neighbourhood has them
  std::vector<std::uint32_t>
      turned;  // its order where blocks do not meet in order: on a grid down meets up, on a graph
               // the last meets the first
  struct Ordered {
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

// Nothing where the communicator has no topology. Local: asks the MPI library, and where one rank is a neighbour twice,
// the first time, tries on a private communicator which of two blocks goes to which place: MPI libraries differ there,
// from the standard, and in themselves by form.
std::optional<Neighbours> read_neighbours(MPI_Comm handle);

}  // namespace urakata::shim
