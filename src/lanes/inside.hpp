// SPDX-License-Identifier: BSD-3-Clause
// What an operation between sites has nodes move: the part of the model (lanes/model.hpp) that its schedules decide.
//
// What crosses counts as what goes to nodes near by: both leave a node by its own link, or come by it. What it sends
// and what it receives do not hinder each other.
//
// Nodes count, and not ranks: what ranks of a node have for each other takes no network.
//
// Thread-safety: all by any thread.
#pragma once

#include <cstdint>

#include "collectives/collectives.hpp"
#include "lanes/site_placement.hpp"

namespace urakata::lanes {

struct Inside {
  double bytes = 0;        // that the busiest node sends, or receives: H
  std::uint32_t hops = 0;  // of a segment, before it crosses and after: h
};
// Of an operation with a schedule between sites, from site `one` (of a rooted one the root's) to `other`; lanes as
// build() has them.
Inside inside(collectives::Operation operation, const collectives::Arguments& arguments, const Placement& placement,
              Site one, Site other, std::uint32_t lanes);

}  // namespace urakata::lanes
